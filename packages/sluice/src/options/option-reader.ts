// Reads the options of one function: a wrong one is thrown at construction, by name.
import { show, SluiceError } from '../errors.ts'
import type { Millis } from '../time/clock.ts'
import { DURATION_FORMS, tryDuration, type Duration } from '../time/duration.ts'
import { checkOptionNames } from './unknown-option.ts'

/** Checks the options of one function and names the function in every error. */
export class OptionReader {
  private readonly name: string

  constructor(name: string, options: unknown, known: readonly string[]) {
    this.name = name
    if (typeof options !== 'object' || options === null)
      this.wrong('options', options, `an object of ${known.join(', ')}`)
    checkOptionNames(name, options as object, known)
  }

  /** Throws `invalid-option` naming the option, its value and what is accepted. */
  wrong(option: string, value: unknown, accepted: string): never {
    throw new SluiceError(
      'invalid-option',
      `${this.name}: ${option} is ${show(value)}; accepted: ${accepted}`,
    )
  }

  duration(option: string, value: Duration | undefined, fallback: Millis): Millis {
    if (value === undefined) return fallback
    return tryDuration(value) ?? this.wrong(option, value, DURATION_FORMS)
  }

  /** A number within bounds; a whole one if `whole`. */
  number(
    option: string,
    value: number | undefined,
    fallback: number,
    bounds: { readonly least: number; readonly most?: number; readonly whole?: boolean },
  ): number {
    const { least, most = Number.MAX_SAFE_INTEGER, whole = false } = bounds
    if (value === undefined) return fallback
    const fits = typeof value === 'number' && value >= least && value <= most
    if (fits && (!whole || Number.isSafeInteger(value))) return value
    const kind = whole ? 'a whole number' : 'a number'
    const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`
    return this.wrong(option, value, `${kind}, ${range}`)
  }

  callable<F>(option: string, value: F | undefined, fallback: F): F {
    if (value === undefined || typeof value === 'function') return value ?? fallback
    return this.wrong(option, value, 'a function')
  }

  /** Anything with these methods. */
  shaped<T extends object>(
    option: string,
    value: T | undefined,
    methods: readonly (keyof T)[],
  ): void {
    const fits = typeof value === 'object' && value !== null
    if (value === undefined || (fits && methods.every((name) => typeof value[name] === 'function')))
      return
    this.wrong(option, value, `an object with ${methods.map(String).join(', ')}`)
  }
}
