// Asks the service: its figures, and with a token its admin API.
import { readMetrics, type Reading } from './reading.ts'

/** A key that was refused often. */
export interface Offender {
  readonly policy: string
  readonly rule: string
  readonly attributes: Readonly<Record<string, string>>
  readonly refused: number
}

/** How long a question may take, in milliseconds. */
const DEADLINE = 2000

/** The service did not answer as one does; the message is a sentence for people. */
export class Unreachable extends Error {}

/** The figures now; rejects with {@link Unreachable}. */
export async function readService(url: string): Promise<Reading> {
  const { status, text } = await get(`${url}/metrics`, {})
  const reading = status === 200 ? readMetrics(text, performance.now()) : undefined
  if (reading === undefined)
    throw new Unreachable(`${url} answers, but not as a decision service does (status ${status})`)
  return reading
}

/** Who is refused most; rejects with {@link Unreachable}. */
export async function readOffenders(url: string, token: string): Promise<readonly Offender[]> {
  const headers = { authorization: `Bearer ${token}` }
  const { status, text } = await get(`${url}/v1/admin/offenders?limit=100`, headers)
  if (status === 401) throw new Refused('the admin API refuses the token')
  if (status === 429) throw new Refused('the admin API does not listen: too many failed attempts')
  try {
    const { offenders } = JSON.parse(text) as { offenders: readonly Offender[] }
    if (status === 200 && Array.isArray(offenders)) return offenders
  } catch {
    // Told below.
  }
  throw new Unreachable(`${url} answers, but not as an admin API does (status ${status})`)
}

/** Asking again would be refused again, and would count as an attempt. */
export class Refused extends Unreachable {}

async function get(
  url: string,
  headers: Record<string, string>,
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(DEADLINE) })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    const { origin } = new URL(url)
    throw new Unreachable(`${origin} cannot be reached: ${reasonOf(error)}`)
  }
}

function reasonOf(error: unknown): string {
  const { name, cause } = error as Error & { cause?: NodeJS.ErrnoException }
  if (name === 'TimeoutError') return `no answer within ${DEADLINE / 1000} s`
  if (cause?.code === 'ECONNREFUSED') return 'nobody listens there'
  if (cause?.code === 'ENOTFOUND') return 'there is no such host'
  return cause?.message ?? (error as Error).message
}
