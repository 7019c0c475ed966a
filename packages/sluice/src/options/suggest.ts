// "Did you mean": the accepted name nearest to one that is not accepted.
import { show } from '../errors.ts'

/** The message about a name that is not accepted: what was meant, and what is accepted. */
export function unknownName(kind: string, name: string, accepted: readonly string[]): string {
  return `unknown ${kind} ${show(name)}; ${acceptedNames(name, accepted)}`
}

/** What is accepted instead of a value, after the name that it may have meant. */
export function acceptedNames(
  value: unknown,
  names: readonly string[],
  accepted: string = names.join(', '),
): string {
  const meant = typeof value === 'string' ? closestName(value, names) : undefined
  return `${meant === undefined ? '' : `did you mean ${meant}? `}accepted: ${accepted}`
}

/**
 * The name that differs least, by at most `most` letters added, dropped, changed or swapped (default and maximum 2); undefined
 * when none is that near.
 *
 * @example
 * ```ts
 * closestName('limt', ['name', 'limit']) // 'limit'
 * ```
 */
export function closestName(
  unknown: string,
  names: readonly string[],
  most: number = 2,
): string | undefined {
  let best: string | undefined
  let least = most + 1
  for (const name of names) {
    const distance = editDistance(unknown.toLowerCase(), name.toLowerCase())
    // Of a short name most letters must be right: "warn" is no "mark".
    const isNear = distance * 2 < name.length || (distance === 1 && name.length > 1)
    if (distance < least && isNear) {
      best = name
      least = distance
    }
  }
  return best
}

/** Letters that are added, dropped, changed, or swapped with the next one. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? (before[j - 2] as number) + 1 : changed
      next.push(Math.min(changed, swapped, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    before = row
    row = next
  }
  return row[b.length] as number
}
