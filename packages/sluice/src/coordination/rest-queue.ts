// Items that rest until an instant, in the order in which they were added.

/** A queue of items that rest about equally long, so that none is returned much too late. */
export class RestQueue<T> {
  private items: T[] = []
  private times: number[] = []
  private head = 0

  /** Adds an item that rests until an instant. */
  push(item: T, until: number): void {
    this.items.push(item)
    this.times.push(until)
  }

  /** Removes and returns the next item that is due; undefined for none. */
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
