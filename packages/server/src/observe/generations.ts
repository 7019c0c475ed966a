// Something that is counted over two generations, so that an answer covers one to two spans and never starts from nothing.
import type { Millis } from 'sluice'

/** The present generation and the one before. */
export class Generations<T> {
  readonly span: Millis
  private readonly make: () => T
  private number: number
  now: T
  before: T | undefined
  private readonly settle: (ended: T) => void

  /** `settle` is called with a generation that has ended and is still to be read. */
  constructor(span: Millis, make: () => T, now: Millis, settle: (ended: T) => void = () => {}) {
    this.span = span
    this.make = make
    this.settle = settle
    this.number = Math.floor(now / span)
    this.now = make()
    this.before = undefined
  }

  /** Begins a new generation if its time has come. */
  turn(now: Millis): void {
    const number = Math.floor(now / this.span)
    if (number === this.number) return
    this.before = number === this.number + 1 ? this.now : undefined
    if (this.before !== undefined) this.settle(this.before)
    this.now = this.make()
    this.number = number
  }

  /** When the older generation began. */
  get since(): Millis {
    return (this.number - 1) * this.span
  }

  /** Both, the present one first. */
  get both(): readonly T[] {
    return this.before === undefined ? [this.now] : [this.now, this.before]
  }
}
