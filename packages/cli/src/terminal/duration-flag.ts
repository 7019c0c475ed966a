// A duration that a flag was given.
import { duration, type DurationText, type Millis } from 'sluice'
import { Mistake } from './mistake.ts'

/** The duration in milliseconds; throws a {@link Mistake} that names the flag and `examples`. */
export function durationFlag(flag: string, text: string, examples: string): Millis {
  try {
    return duration(text as DurationText)
  } catch {
    throw new Mistake(`${flag} is ${text}; accepted: a duration such as ${examples}`)
  }
}
