// A small memory for what was worked out lately.

/** The most texts of one generation. */
const GENERATION = 1024
/** The longest text that is remembered: no address and hardly an API key is longer. */
const LONGEST = 1024

/**
 * Works something out once per text, as long as the text comes back. Keeps at most two generations of 1,024
 * texts, so strangers who send a new one each time cost time, not memory.
 */
export function memoizeRecent<T>(workOut: (text: string) => T): (text: string) => T {
  let young = new Map<string, T>()
  let old = new Map<string, T>()
  return (text) => {
    const known = young.get(text)
    if (known !== undefined) return known
    const made = old.get(text) ?? workOut(text)
    if (text.length > LONGEST) return made
    if (young.size >= GENERATION) {
      old = young
      young = new Map()
    }
    young.set(text, made)
    return made
  }
}
