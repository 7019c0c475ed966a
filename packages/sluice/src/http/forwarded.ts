// Reads the header fields in which proxies name the client, from the right: X-Forwarded-For and Forwarded (RFC 7239).

/** One entry, and where the rest of the field ends; -1 when nothing is left. */
interface Entry {
  /** The address, or '' when the entry names none. */
  readonly address: string
  readonly rest: number
}

/**
 * The last entry of the first `end` characters of a field, without quotes, brackets and port. Only this entry must be
 * well formed: it is the proxy's, and everything before it may be the client's. Undefined when no entry is left; empty
 * elements are ignored (RFC 9110 §5.6.1). The work is linear in the length of the entry.
 */
export function entryBefore(header: string, value: string, end: number): Entry | undefined {
  let stop = end
  while (stop > 0) {
    const comma =
      header === 'forwarded' ? commaOutsideQuotes(value, stop) : value.lastIndexOf(',', stop - 1)
    const element = value.slice(comma + 1, stop).trim()
    if (element !== '')
      return { address: header === 'forwarded' ? forOf(element) : bare(element), rest: comma }
    stop = comma
  }
  return undefined
}

/** The address in the last entry of a list such as X-Forwarded-For; '' when it names none. */
export function lastEntry(list: string): string {
  return entryBefore('', list, list.length)?.address ?? ''
}

/** The place of the last comma before `end` that no quotes enclose, reading from the right; -1 when there is none. */
function commaOutsideQuotes(value: string, end: number): number {
  for (let i = end - 1; i >= 0; i--) {
    const character = value[i]
    if (character === ',') return i
    // From the closing quote to the opening one, which no backslash escapes.
    if (character === '"') {
      i -= 1
      while (i >= 0 && (value[i] !== '"' || isEscaped(value, i))) i--
    }
  }
  return -1
}

/** Whether an odd number of backslashes stands before a character. */
function isEscaped(value: string, i: number): boolean {
  let start = i
  while (value[start - 1] === '\\') start--
  return (i - start) % 2 === 1
}

/** The `for` of one element such as `for="[2001:db8::1]:4711";proto=https`; '' when it has none, or is malformed. */
function forOf(element: string): string {
  let address = ''
  let i = 0
  while (i <= element.length) {
    const equals = element.indexOf('=', i)
    if (equals === -1) return element.slice(i).trim() === '' ? address : ''
    const name = element.slice(i, equals).trim().toLowerCase()
    const isQuoted = element[equals + 1] === '"'
    const end = isQuoted ? closingQuote(element, equals + 2) : endOfToken(element, equals + 1)
    if (end === -1) return ''
    const value = isQuoted
      ? element.slice(equals + 2, end).replaceAll(/\\(.)/g, '$1')
      : element.slice(equals + 1, end).trim()
    if (name === 'for') {
      // Two of them would let two readers choose differently.
      if (address !== '') return ''
      address = bare(value)
      if (address === '') return ''
    }
    const next = isQuoted ? element.indexOf(';', end + 1) : end
    if (isQuoted && element.slice(end + 1, next === -1 ? undefined : next).trim() !== '') return ''
    if (next === -1 || next === element.length) return address
    i = next + 1
  }
  return address
}

function closingQuote(element: string, start: number): number {
  for (let i = start; i < element.length; i++) {
    if (element[i] === '\\') i++
    else if (element[i] === '"') return i
  }
  return -1
}

function endOfToken(element: string, start: number): number {
  const end = element.indexOf(';', start)
  return end === -1 ? element.length : end
}

/** An entry without quotes, brackets and port: `"[2001:db8::1]:4711"` is `2001:db8::1`. */
function bare(entry: string): string {
  let address = entry.trim()
  if (address.length > 1 && address.startsWith('"') && address.endsWith('"'))
    address = address.slice(1, -1)
  if (address.startsWith('[')) {
    const end = address.indexOf(']')
    return end === -1 || !/^(?::\d{1,5})?$/.test(address.slice(end + 1))
      ? ''
      : address.slice(1, end)
  }
  // One colon separates a port; several are an IPv6 address.
  const colon = address.indexOf(':')
  return colon !== -1 && colon === address.lastIndexOf(':') ? address.slice(0, colon) : address
}
