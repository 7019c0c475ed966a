// Text that clients have chosen: how it is kept, so that it does not keep the request alive, and how it is shown.

/** V8 copies shorter parts of a string; longer ones point into the whole. */
const COPIED = 13

/**
 * The same text, which keeps nothing else alive: a part of a header would keep the whole header. To take a part of a joined
 * string, V8 first copies the whole of it; a way through bytes takes three times as long.
 */
export function ownText(text: string): string {
  return text.length < COPIED ? text : ` ${text}`.slice(1)
}

/** Control characters, line and paragraph separators, and what turns the direction of text around. */
const HIDDEN = /[\p{Cc}\p{Cf}\u2028\u2029\ud800-\udfff]/gu

/** The text with everything that cannot be seen as `\u{…}`, and no longer than so many characters. */
export function visible(text: string, longest = 200): string {
  const cut = text.length > longest ? `${text.slice(0, longest - 1)}…` : text
  return cut.replaceAll(HIDDEN, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`)
}
