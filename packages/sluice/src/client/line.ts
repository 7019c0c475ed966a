// A line of people: join at the end, leave from anywhere, at no cost.

/** What a member of a line holds for it. */
export interface Place<T> {
  before: T | undefined
  after: T | undefined
}

/** A doubly linked list, so that somebody in the middle of a million can leave without a trace. */
export class Line<T extends Place<T>> {
  first: T | undefined
  last: T | undefined
  size = 0

  push(member: T): void {
    member.before = this.last
    if (this.last === undefined) this.first = member
    else this.last.after = member
    this.last = member
    this.size += 1
  }

  /** The member must be in the line. */
  remove(member: T): void {
    const { before, after } = member
    if (before === undefined) this.first = after
    else before.after = after
    if (after === undefined) this.last = before
    else after.before = before
    member.before = undefined
    member.after = undefined
    this.size -= 1
  }
}
