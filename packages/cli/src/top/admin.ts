// Reads the metrics of a service and, with a token, its admin API.
import type { Millis } from 'sluice'
import { readMetrics, type Reading } from './reading.ts'

/** A key that was refused often. */
export interface Offender {
  readonly policy: string
  readonly rule: string
  readonly attributes: Readonly<Record<string, string>>
  readonly refused: number
}

/** The service is unreachable, or the server is another one; the message is a sentence for people. */
export class Unreachable extends Error {}

/** The metrics now, read within `timeout`; rejects with {@link Unreachable}. */
export async function readService(url: string, timeout: Millis): Promise<Reading> {
  const { status, text } = await get(`${url}/metrics`, {}, timeout)
  const reading = status === 200 ? readMetrics(text, performance.now()) : undefined
  if (reading === undefined)
    throw new Unreachable(`${url} answers, but is not a decision service (status ${status})`)
  return reading
}

/** The keys refused most, read within `timeout`; rejects with {@link Unreachable}. */
export async function readOffenders(
  url: string,
  token: string,
  timeout: Millis,
): Promise<readonly Offender[]> {
  const headers = { authorization: `Bearer ${token}` }
  const { status, text } = await get(`${url}/v1/admin/offenders?limit=100`, headers, timeout)
  if (status === 401) throw new Refused('the admin API refuses the token')
  if (status === 429)
    throw new Refused('the admin API refuses all tokens for now: too many failed attempts')
  try {
    const { offenders } = JSON.parse(text) as { offenders: readonly Offender[] }
    if (status === 200 && Array.isArray(offenders)) return offenders
  } catch {
    // The error is thrown below.
  }
  throw new Unreachable(`${url} answers, but is not an admin API (status ${status})`)
}

/** The token was refused. Another attempt would be refused too, and count as a failed one. */
export class Refused extends Unreachable {}

async function get(
  url: string,
  headers: Record<string, string>,
  timeout: Millis,
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(timeout) })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    const { origin } = new URL(url)
    throw new Unreachable(`${origin} is unreachable: ${reasonOf(error, timeout)}`)
  }
}

function reasonOf(error: unknown, timeout: Millis): string {
  const { name, cause } = error as Error & { cause?: NodeJS.ErrnoException }
  if (name === 'TimeoutError') return `no answer within ${timeout / 1000} s`
  if (cause?.code === 'ECONNREFUSED') return 'no server listens there'
  if (cause?.code === 'ENOTFOUND') return 'there is no such host'
  return cause?.message ?? (error as Error).message
}
