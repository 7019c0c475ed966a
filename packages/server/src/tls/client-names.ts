// The names in a client's certificate, and whether one of them is on the list.

/** As much of a peer certificate of node:tls as is read. */
export interface NamedCertificate {
  readonly subjectaltname?: string | undefined
  readonly subject?: { readonly CN?: string | string[] | undefined } | undefined
}

/** Kinds of alternative names that can be on the list. */
const KINDS = new Set(['DNS', 'URI', 'email', 'IP Address'])

/** Every name that a certificate proves: its alternative names, or its common name if it has none of them. */
export function namesOf({ subjectaltname, subject }: NamedCertificate): readonly string[] {
  if (subjectaltname !== undefined) return alternativeNames(subjectaltname)
  const common = subject?.CN
  return typeof common === 'string' ? [common] : []
}

/** Whether a certificate has one of these names, letter for letter. */
export function isListed(certificate: NamedCertificate, names: readonly string[]): boolean {
  return namesOf(certificate).some((name) => names.includes(name))
}

/**
 * The names in a string such as `DNS:a, URI:spiffe://b`. Node writes a name with a comma or a quote as a JSON string; a
 * quoted name is skipped as a whole, so that nothing within it can pass for a name.
 */
function alternativeNames(text: string): string[] {
  const names: string[] = []
  for (let at = 0; at < text.length;) {
    const colon = text.indexOf(':', at)
    if (colon === -1) break
    const kind = text.slice(at, colon)
    const end = text[colon + 1] === '"' ? quoteEnd(text, colon + 1) : endOf(text, colon)
    if (text[colon + 1] !== '"' && KINDS.has(kind)) names.push(text.slice(colon + 1, end))
    at = end + 2
  }
  return names
}

/** Where an unquoted name ends: at the next `, `, or at the end. */
function endOf(text: string, from: number): number {
  const comma = text.indexOf(', ', from)
  return comma === -1 ? text.length : comma
}

/** Behind the quote that closes the one at `from`. */
function quoteEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '"') return at + 1
  }
  return text.length
}
