// The keys of several values that were made last: most requests come from callers who were here a moment ago.
import { keyOf } from './key.ts'

/** A power of two. Few, because a string that is a slice of a header keeps the header alive. */
const PLACES = 32

/**
 * Makes the keys of one rule. To join the values, and to make one piece of what V8 keeps as a tree, costs as much as a
 * decision on a hot key; to find them again costs a comparison each.
 */
export class JoinedKeys {
  private readonly lists: (readonly string[])[] = new Array<readonly string[]>(PLACES).fill([])
  private readonly keys: string[] = new Array<string>(PLACES).fill('')

  /** `keyOf(values)`. The list must not change afterwards. */
  keyOf(values: readonly string[]): string {
    const place = placeOf(values[values.length - 1] ?? '')
    if (isSameList(values, this.lists[place]!)) return this.keys[place]!
    const key = keyOf(values)
    this.lists[place] = values
    this.keys[place] = key
    return key
  }
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length || a.length === 0) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** A number from two characters: an uneven spread costs little. */
function placeOf(value: string): number {
  const end = value.length - 1
  if (end < 1) return 0
  return (value.charCodeAt(end) ^ (value.charCodeAt(end - 1) << 1)) & (PLACES - 1)
}
