// Something that is counted over two generations, so that an answer covers one to two spans and never starts from nothing.
import type { Millis } from 'sluice'

/** The present generation and the one before. */
export class Generations<T> {
  readonly span: Millis
  private readonly make: () => T
  private number: number
  now: T
  before: T | undefined

  constructor(span: Millis, make: () => T, now: Millis) {
    this.span = span
    this.make = make
    this.number = Math.floor(now / span)
    this.now = make()
    this.before = undefined
  }

  /** Begins a new generation if its time has come. */
  turn(now: Millis): void {
    const number = Math.floor(now / this.span)
    if (number === this.number) return
    this.before = number === this.number + 1 ? this.now : undefined
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
