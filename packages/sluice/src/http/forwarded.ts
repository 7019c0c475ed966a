// Reads the header fields in which proxies name the client: X-Forwarded-For and its kin, and Forwarded (RFC 7239).

/** The entries of a field, as its proxies appended them; '' stands for one that names nobody. */
export function forwardedEntries(header: string, value: string): readonly string[] {
  return header === 'forwarded' ? forValues(value) : value.split(',').map(bare)
}

/** An entry without quotes, brackets and port: `"[2001:db8::1]:4711"` is `2001:db8::1`. */
function bare(entry: string): string {
  let text = entry.trim()
  if (text.length > 1 && text.startsWith('"') && text.endsWith('"')) text = text.slice(1, -1)
  if (text.startsWith('[')) {
    const end = text.indexOf(']')
    return end === -1 || !/^(?::\d{1,5})?$/.test(text.slice(end + 1)) ? '' : text.slice(1, end)
  }
  // One colon is a port; more are an IPv6 address.
  const colon = text.indexOf(':')
  return colon !== -1 && colon === text.lastIndexOf(':') ? text.slice(0, colon) : text
}

const PAIR =
  /[ \t]*(?:([!#$%&'*+.^_`|~\w-]+)=([!#$%&'*+.^_`|~\w-]+|"(?:[^"\\]|\\.)*"))?[ \t]*([;,]|$)/y

/** The `for` of each element. A field that cannot be read names nobody in its last element. */
function forValues(value: string): readonly string[] {
  const entries: string[] = []
  let current = ''
  PAIR.lastIndex = 0
  while (PAIR.lastIndex < value.length) {
    const match = PAIR.exec(value)
    if (match === null) return [...entries, '']
    const [, name, text = '', end] = match
    if (name?.toLowerCase() === 'for') current = bare(text.replaceAll(/\\(.)/g, '$1'))
    if (end !== ';') {
      entries.push(current)
      current = ''
    }
    if (end === '') break
  }
  return entries
}
