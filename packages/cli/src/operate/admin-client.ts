// Calls the admin API of a running service.
import { readFileSync } from 'node:fs'
import { Mistake } from '../terminal/mistake.ts'

/** How to reach the admin API. */
export interface AdminFlags {
  /** Its address. */
  readonly admin: string
  readonly tokenFile?: string
  readonly json?: boolean
}

/** How long a request may take, in milliseconds. */
const DEADLINE = 5000

/** Sends one request: GET without a body, else POST. Throws a {@link Mistake} with what the service says is wrong. */
export async function askAdmin<T>(flags: AdminFlags, path: string, body?: object): Promise<T> {
  const url = flags.admin.replace(/\/+$/, '')
  if (!URL.canParse(url))
    throw new Mistake(`${flags.admin} is not a URL; accepted: http://127.0.0.1:8089`)
  const token = tokenFor(flags)
  if (token === undefined)
    throw new Mistake('no token; set SLUICE_ADMIN_TOKEN or --token-file to one of the admin API')
  const { status, text } = await send(`${url}/v1/admin/${path}`, token, body)
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw new Mistake(`${url} answers, but is not an admin API (status ${status})`)
  }
  if (status === 200) return answer as T
  if (status === 401) throw new Mistake('the admin API refuses the token')
  const { detail, title } = answer as { readonly detail?: string; readonly title?: string }
  throw new Mistake(detail ?? title ?? `status ${status}`)
}

async function send(
  url: string,
  token: string,
  body: object | undefined,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body && { 'content-type': 'application/json' }),
  }
  try {
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      signal: AbortSignal.timeout(DEADLINE),
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException }
    const isClosed = cause?.code === 'ECONNREFUSED'
    const why = isClosed ? 'no server listens there' : cause?.message || message
    throw new Mistake(`${new URL(url).origin} is unreachable: ${why}`)
  }
}

/** The token in the first line of the file that has one, or in the environment. */
function tokenFor({ tokenFile }: AdminFlags): string | undefined {
  if (tokenFile === undefined) return process.env['SLUICE_ADMIN_TOKEN'] || undefined
  const lines = readFileSync(tokenFile, 'utf8').split('\n')
  const line = lines.map((one) => one.trim()).find((one) => one !== '' && !one.startsWith('#'))
  return line?.split(/\s+/).at(-1)
}

/** Attributes from arguments such as `user=42`. */
export function attributesFrom(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf('=')
      if (equals < 1 || equals === pair.length - 1)
        throw new Mistake(`${JSON.stringify(pair)} is no attribute; accepted: user=42`)
      return [pair.slice(0, equals), pair.slice(equals + 1)]
    }),
  )
}
