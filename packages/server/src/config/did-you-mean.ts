// Finds the name that was probably meant, for messages about unknown ones.

/** The nearest of some names: at most two letters away, and less than half of the word; undefined when none is near. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let least = Math.min(2, Math.floor((name.length - 1) / 2))
  for (const other of names) {
    if (Math.abs(other.length - name.length) > least) continue
    const distance = distanceOf(name.toLowerCase(), other.toLowerCase())
    if (distance > least || (distance === least && nearest !== undefined)) continue
    nearest = other
    least = distance
  }
  return nearest
}

/** `; did you mean x?` for a message, or nothing. */
export function didYouMean(name: string, names: Iterable<string>): string {
  const nearest = nearestName(name, names)
  return nearest === undefined ? '' : `; did you mean ${nearest}?`
}

/** How many letters must be added, removed or replaced. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
