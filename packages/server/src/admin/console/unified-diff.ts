// Two versions of a text as a unified diff, which `patch` and `git apply` read.

/** Lines around a change that are shown with it. */
const CONTEXT = 3
/** Changed lines that are compared one by one; beyond them the old ones stand before the new ones. */
const MAX_COMPARED = 500

/** The change from one text to another as a diff of the file; empty when they are the same. */
export function unifiedDiff(before: string, after: string, file: string): string {
  if (before === after) return ''
  const [old, changed] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < changed.length && old[start] === changed[start]) start++
  let end = 0
  while (
    end < Math.min(old.length, changed.length) - start &&
    old.at(-1 - end) === changed.at(-1 - end)
  )
    end++
  const edits = editsOf(
    old.slice(start, old.length - end),
    changed.slice(start, changed.length - end),
  )
  const first = Math.max(0, start - CONTEXT)
  const last = Math.min(old.length, old.length - end + CONTEXT)
  const head = old.slice(first, start).map((line) => ` ${line}`)
  const tail = old.slice(old.length - end, last).map((line) => ` ${line}`)
  const newLength = last - first - old.length + changed.length
  return [
    `--- ${file}`,
    `+++ ${file}`,
    `@@ -${first + 1},${last - first} +${first + 1},${newLength} @@`,
    ...head,
    ...edits,
    ...tail,
    '',
  ].join('\n')
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/** Removed, added and kept lines, by the longest common subsequence. */
function editsOf(old: readonly string[], changed: readonly string[]): readonly string[] {
  if (old.length > MAX_COMPARED || changed.length > MAX_COMPARED)
    return [...old.map((line) => `-${line}`), ...changed.map((line) => `+${line}`)]
  const width = changed.length + 1
  const longest = new Uint16Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = changed.length - 1; j >= 0; j--)
      longest[i * width + j] =
        old[i] === changed[j]
          ? longest[(i + 1) * width + j + 1]! + 1
          : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!)
  const edits: string[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < changed.length) {
    if (i < old.length && j < changed.length && old[i] === changed[j]) {
      edits.push(` ${old[i++]}`)
      j++
    } else if (
      j === changed.length ||
      (i < old.length && longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!)
    )
      edits.push(`-${old[i++]}`)
    else edits.push(`+${changed[j++]}`)
  }
  return edits
}
