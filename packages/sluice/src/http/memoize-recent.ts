// A small memory of recent results, bounded in entries and in bytes.

/** The most strings of one generation. */
const MAX_ENTRIES = 1024
/** The longest string that is remembered: no address and hardly any API key is longer. */
const MAX_LENGTH = 1024

/**
 * Computes a result once per string, as long as the string comes back. Keeps at most two generations of 1,024 strings,
 * so clients that send a new one each time cost time, not memory.
 */
export function memoizeRecent<T>(compute: (string: string) => T): (string: string) => T {
  let current = new Map<string, T>()
  let previous = new Map<string, T>()
  return (string) => {
    const known = current.get(string)
    if (known !== undefined) return known
    const result = previous.get(string) ?? compute(string)
    if (string.length > MAX_LENGTH) return result
    if (current.size >= MAX_ENTRIES) {
      previous = current
      current = new Map()
    }
    current.set(flatCopy(string), result)
    return result
  }
}

/** A flat string of its own: a slice of a header field would keep the whole field alive, and compares slowly. */
function flatCopy(string: string): string {
  return string.length < MIN_SLICE_LENGTH ? string : string.split('').join('')
}

/** V8 copies shorter slices by itself. */
const MIN_SLICE_LENGTH = 13
