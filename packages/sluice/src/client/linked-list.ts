// A doubly linked list: adding at the end and removing from anywhere take constant time.

/** The links that each element holds. */
export interface ListNode<T> {
  before: T | undefined
  after: T | undefined
}

/** A list whose elements carry their own links. */
export class LinkedList<T extends ListNode<T>> {
  first: T | undefined
  last: T | undefined
  size = 0

  push(element: T): void {
    element.before = this.last
    if (this.last === undefined) this.first = element
    else this.last.after = element
    this.last = element
    this.size += 1
  }

  /** The element must be in the list. */
  remove(element: T): void {
    const { before, after } = element
    if (before === undefined) this.first = after
    else before.after = after
    if (after === undefined) this.last = before
    else after.before = before
    element.before = undefined
    element.after = undefined
    this.size -= 1
  }
}
