// Starts a service for a test: on a free port, with the policies at hand, ended with the test.
import { Writable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { createLog } from '../src/log/log.ts'
import { readConfig } from '../src/config/read-config.ts'
import { startService, type Service, type ServiceOptions } from '../src/service/service.ts'

/** One policy with a rule for users and one for keys. */
export const sample = {
  policies: [
    {
      name: 'api',
      rules: [
        { name: 'per-user', by: ['user'], limit: '5/min', cost: 'units' },
        { name: 'per-key', when: { key: 'present' }, by: ['key'], limit: '3/min' },
      ],
    },
  ],
}

/** What the answers of the API may hold. */
interface Body {
  readonly allowed: boolean
  readonly rule: string
  readonly remaining: number
  readonly retryAfter: number
  readonly at: number
  readonly degraded: boolean
  readonly pools?: Readonly<Record<string, string>>
  readonly decisions: readonly unknown[]
  readonly generation: number
  readonly policies: readonly unknown[]
}

interface Answer {
  readonly status: number
  readonly body: Body
}

export interface Running extends Service {
  /** The address of the HTTP listener. */
  readonly url: string
  /** What was logged, one object for each line. */
  readonly logged: () => Record<string, unknown>[]
  /** Sends JSON and gives the status and the parsed answer. */
  readonly post: (path: string, body: unknown) => Promise<Answer>
  readonly get: (path: string) => Promise<Answer>
  /** What `/metrics` says. */
  readonly metrics: () => Promise<string>
}

/** Starts a service from what a file would say. */
export async function running(
  file: object,
  options: Partial<Pick<ServiceOptions, 'source' | 'warnings'>> = {},
): Promise<Running> {
  const listeners = { http: { port: 0 }, ...(file as { listeners?: object }).listeners }
  const { config, problems } = readConfig(JSON.stringify({ ...file, listeners }), 'test')
  if (config === undefined) throw new Error(problems.map(({ message }) => message).join('\n'))
  let text = ''
  const sink = new Writable({
    write(chunk: Buffer, _, done) {
      text += chunk.toString()
      done()
    },
  })
  const service = await startService({ ...options, config, log: createLog('debug', sink) })
  onTestFinished(() => service.stop())
  const { url } = service.listeners.find(({ name }) => name === 'http')!
  const read = async (response: Response): Promise<Answer> => {
    const text = await response.text()
    const body = (text.startsWith('{') ? JSON.parse(text) : text) as Body
    return { status: response.status, body }
  }
  return {
    ...service,
    url,
    logged: () =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    post: async (path, body) =>
      read(
        await fetch(url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      ),
    get: async (path) => read(await fetch(url + path)),
    metrics: async () => (await fetch(`${url}/metrics`)).text(),
  }
}
