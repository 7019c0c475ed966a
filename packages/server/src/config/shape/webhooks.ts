// The shape of `webhooks`.
import { z } from 'zod'
import { listOf, millis, text } from './values.ts'

const ADDRESS = "the address of a webhook, such as 'https://hooks.example.com/sluice'"
const SECRET = 'a secret of at least 16 characters, by which events are signed'
const TIMEOUT = "a duration from 1 ms to 60 s, such as '5s'"
const DEADLINE = "a duration from 1 ms to 7 days, such as '1h'"

const between = (most: number, what: string): z.ZodType<number> =>
  millis.refine((value) => value >= 1 && value <= most, { error: what })

/** One webhook. */
export const webhook = z.strictObject(
  {
    url: text(ADDRESS)
      .refine(isAddress, { error: ADDRESS })
      .describe('Where events are sent, by POST.'),
    secret: z
      .string({ error: SECRET })
      .min(16, { error: SECRET })
      .describe('Signs events: HMAC-SHA256. Best as ${VARIABLE}, from the environment.'),
    timeout: between(60_000, TIMEOUT).describe('How long one attempt may take.').default(5000),
    deadline: between(7 * 86_400_000, DEADLINE)
      .describe('How long an event is tried again.')
      .default(3_600_000),
  },
  { error: 'an object with url and secret' },
)

/** All of them. */
export const webhooks = listOf(webhook, 'a list of webhooks, each with url and secret')

function isAddress(value: string): boolean {
  return URL.canParse(value) && ['http:', 'https:'].includes(new URL(value).protocol)
}
