// Text that clients have chosen: how it is shown.

/** Control characters, line and paragraph separators, and what turns the direction of text around. */
const HIDDEN = /[\p{Cc}\p{Cf}\u2028\u2029\ud800-\udfff]/gu

/** The text with everything that cannot be seen as `\u{…}`, and no longer than so many characters. */
export function visible(text: string, longest = 200): string {
  const cut = text.length > longest ? `${text.slice(0, longest - 1)}…` : text
  return cut.replaceAll(HIDDEN, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`)
}
