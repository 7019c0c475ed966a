// Work on lists of any length: spread into the arguments of a call, a long one is a RangeError.

/** The largest number of a list, or `least` if none is larger. */
export function largest(list: readonly number[], least: number): number {
  let found = least
  for (const one of list) if (one > found) found = one
  return found
}

/** The smallest number of a list; Infinity of an empty one. */
export function smallest(list: readonly number[]): number {
  let found = Infinity
  for (const one of list) if (one < found) found = one
  return found
}

/** Appends all lines to a list. */
export function append(lines: string[], more: readonly string[]): void {
  for (const line of more) lines.push(line)
}
