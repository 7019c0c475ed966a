// The future events of virtual time, as a heap ordered by instant, then by creation.

/** An event at an instant; `run` is null once it was cancelled. */
export interface ScheduledEvent {
  readonly at: number
  /** Events of one instant happen in the order in which they were made. */
  readonly order: number
  run: (() => void) | null
}

function isBefore(a: ScheduledEvent, b: ScheduledEvent): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/** Adds an event. */
export function pushEvent(heap: ScheduledEvent[], event: ScheduledEvent): void {
  let i = heap.push(event) - 1
  while (i > 0) {
    const parent = (i - 1) >> 1
    if (!isBefore(event, heap[parent]!)) break
    heap[i] = heap[parent]!
    i = parent
  }
  heap[i] = event
}

/** Removes the first event, `heap[0]`. */
export function popEvent(heap: ScheduledEvent[]): void {
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
