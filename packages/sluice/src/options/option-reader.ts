// Reads the options of one function: a wrong one is thrown at construction, by name.
import { show, SluiceError } from '../errors.ts'
import type { Millis } from '../time/clock.ts'
import { DURATION_FORMS, tryDuration, type Duration } from '../time/duration.ts'
import { MAX_TIMER_MS } from '../time/timers.ts'
import { acceptedNames } from './suggest.ts'
import { checkOptionNames } from './unknown-option.ts'

/** What an option that is a clock must be. */
export const CLOCK_FORM = 'a function that returns milliseconds'

/** What a number must be. */
export interface Bounds {
  readonly least?: number
  /** Instead of `least`, if the bound itself is too small. */
  readonly above?: number
  readonly most?: number
  readonly whole?: boolean
}

/** Checks the options of one function and names the function in every error. */
export class OptionReader {
  /** The function; for options inside of an option, both, such as `createLimiter: resilience`. */
  readonly name: string

  constructor(
    name: string,
    options: unknown,
    known: readonly string[],
    accepted = `accepted: an object with ${known.join(', ')}`,
  ) {
    this.name = name
    if (typeof options !== 'object' || options === null || Array.isArray(options))
      this.fail(`options are ${show(options)}; ${accepted}`)
    checkOptionNames(name, options as object, known)
  }

  /** Throws `invalid-option` with a message. */
  fail(message: string): never {
    throw new SluiceError('invalid-option', `${this.name}: ${message}`)
  }

  /** Throws `invalid-option` naming the option, its value and what is accepted: `names` are those that it may have meant. */
  wrong(option: string, value: unknown, accepted: string, names: readonly string[] = []): never {
    return this.fail(`${option} is ${show(value)}; ${acceptedNames(value, names, accepted)}`)
  }

  /** One of some values. */
  oneOf<T extends string | number, F extends T | undefined>(
    option: string,
    value: T | undefined,
    fallback: F,
    accepted: readonly T[],
  ): T | F {
    if (value === undefined) return fallback
    if (accepted.includes(value)) return value
    return this.wrong(option, value, accepted.join(', '), accepted.map(String))
  }

  /** A number within bounds; a whole one if `whole`. */
  number<F extends number | undefined>(
    option: string,
    value: number | undefined,
    fallback: F,
    bounds: Bounds,
  ): number | F {
    const { above = -Infinity, least = above, most = Number.MAX_SAFE_INTEGER } = bounds
    if (value === undefined) return fallback
    const fits = typeof value === 'number' && value > above && value >= least && value <= most
    if (fits && (bounds.whole !== true || Number.isSafeInteger(value))) return value
    const kind = bounds.whole === true ? 'a whole number' : 'a number'
    if (above === least) return this.wrong(option, value, `${kind} above ${above}, at most ${most}`)
    const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`
    return this.wrong(option, value, `${kind}, ${range}`)
  }

  /** Whole milliseconds that a timer can keep. */
  millis<F extends Millis | undefined>(
    option: string,
    value: Millis | undefined,
    fallback: F,
    least: Millis = 1,
    most: Millis = MAX_TIMER_MS,
  ): Millis | F {
    if (value === undefined) return fallback
    if (Number.isSafeInteger(value) && value >= least && value <= most) return value
    const range = most === MAX_TIMER_MS ? `${least} or more` : `${least} to ${most}`
    return this.wrong(option, value, `whole milliseconds, ${range}`)
  }

  /** True or false. */
  flag<F extends boolean | undefined>(
    option: string,
    value: boolean | undefined,
    fallback: F,
  ): boolean | F {
    if (value === undefined || typeof value === 'boolean') return value ?? fallback
    return this.wrong(option, value, 'true or false')
  }

  callable<F>(option: string, value: F | undefined, fallback: F, accepted = 'a function'): F {
    if (value === undefined || typeof value === 'function') return value ?? fallback
    return this.wrong(option, value, accepted)
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

/** Reads a duration, as milliseconds. No method: entries without durations leave out what parses them. */
export function readDuration(
  reader: OptionReader,
  option: string,
  value: Duration | undefined,
  fallback: Millis,
): Millis {
  if (value === undefined) return fallback
  return tryDuration(value) ?? reader.wrong(option, value, DURATION_FORMS)
}
