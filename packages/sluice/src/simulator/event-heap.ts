// What is still to happen in virtual time: a heap, by instant and then by the order in which it was made.

/** Something that happens at an instant; `run` is null when it was called off. */
export interface Happening {
  readonly at: number
  /** Events of one instant happen in the order in which they were made. */
  readonly order: number
  run: (() => void) | null
}

function isBefore(a: Happening, b: Happening): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/** Adds what happens later. */
export function pushHappening(heap: Happening[], happening: Happening): void {
  let i = heap.push(happening) - 1
  while (i > 0) {
    const parent = (i - 1) >> 1
    if (!isBefore(happening, heap[parent]!)) break
    heap[i] = heap[parent]!
    i = parent
  }
  heap[i] = happening
}

/** Removes and returns the next one. */
export function popHappening(heap: Happening[]): void {
  const last = heap.pop()!
  if (heap.length === 0) return
  let i = 0
  for (;;) {
    let child = 2 * i + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1
    if (!isBefore(heap[child]!, last)) break
    heap[i] = heap[child]!
    i = child
  }
  heap[i] = last
}
