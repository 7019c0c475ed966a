// The small shapes that all others are made of; each says in its error what is accepted.
import { duration } from 'sluice'
import { z } from 'zod'

const MILLIS = "milliseconds, or a string such as '500ms', '5s' or '1min'"

/** A duration that becomes milliseconds. */
export const millis: z.ZodType<number> = z
  .union([z.number(), z.string()], { error: MILLIS })
  .transform((value, context): number => {
    try {
      return duration(value as number)
    } catch {
      context.addIssue({ code: 'custom', message: MILLIS, input: value })
      return z.NEVER
    }
  })

/** A duration within bounds in milliseconds, both included. */
export function millisFrom(least: number, most: number): z.ZodType<number> {
  const error = `${MILLIS}, from ${least} to ${most} ms`
  return millis.refine((value) => value >= least && value <= most, { error })
}

/** A whole number within bounds, both included. */
export function whole(least: number, most: number): z.ZodType<number> {
  const error = `a whole number from ${least} to ${most}`
  return z.int({ error }).min(least, { error }).max(most, { error })
}

/** Text that is not empty; `what` is what the error says. */
export function text(what: string): z.ZodType<string> {
  return z.string({ error: what }).min(1, { error: what })
}

/** Text of one form. */
export function matching(pattern: RegExp, what: string): z.ZodType<string> {
  return z.string({ error: what }).regex(pattern, { error: what })
}

/** One of some words. */
export function oneOf<const T extends readonly string[]>(values: T): z.ZodType<T[number]> {
  return z.enum(values, { error: values.join(', ') })
}

export const flag: z.ZodType<boolean> = z.boolean({ error: 'true or false' })

/** A list; `what` is what the error says when it is none. */
export function listOf<T>(item: z.ZodType<T>, what: string): z.ZodType<readonly T[]> {
  return z.array(item, { error: what })
}

export const host: z.ZodType<string> = text("an address to listen on, such as '127.0.0.1'")
export const port: z.ZodType<number> = whole(0, 65_535).describe('0 lets the system choose.')
