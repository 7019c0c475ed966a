// Counts that need no attention until an instant, in the order in which they were added.

/** A queue of things to look at later. All wait about equally long, so none is looked at much too late. */
export class LookQueue<T> {
  private items: T[] = []
  private times: number[] = []
  private head = 0

  /** Puts a thing away until an instant. */
  push(item: T, until: number): void {
    this.items.push(item)
    this.times.push(until)
  }

  /** The next thing whose time has come; undefined when there is none. */
  next(now: number): T | undefined {
    if (this.head === this.items.length || now < this.times[this.head]!) return undefined
    const item = this.items[this.head]!
    this.head += 1
    if (this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head)
      this.times = this.times.slice(this.head)
      this.head = 0
    }
    return item
  }
}
