// A service with an admin API, and an operator with a token.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { running, type Running } from '../running.ts'

export const TOKEN = 'operator-token-for-tests-0123456789'

/** One policy with two rules. */
export const policies = [
  {
    name: 'api',
    rules: [
      { name: 'per-user', by: ['user'], limit: '5/h' },
      { name: 'per-key', when: { key: 'present' }, by: ['key'], limit: '3/h' },
      { name: 'per-route', when: { route: 'present' }, by: ['user', 'route'], limit: '100/h' },
    ],
  },
]

interface AdminAnswer {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read whatever is there
  readonly body: any
}

export interface Admin extends Running {
  readonly adminUrl: string
  readonly tokenFile: string
  readonly folder: string
  /** Asks the admin API: GET without a body, else POST. */
  readonly ask: (
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<AdminAnswer>
}

/** A folder for the time of the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sluice-admin-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Starts a service with a token. */
export async function administered(
  file: object = {},
  admin: object = {},
  options: Parameters<typeof running>[1] = {},
): Promise<Admin> {
  const path = folder()
  const tokenFile = join(path, 'tokens')
  writeFileSync(tokenFile, `# who may\nops ${TOKEN}\n`, { mode: 0o600 })
  const { listeners, ...rest } = file as { listeners?: object }
  const service = await running(
    {
      policies,
      ...rest,
      listeners: { ...listeners, admin: { port: 0, tokenFile, ...admin } },
    },
    options,
  )
  const { url: adminUrl } = service.listeners.find(({ name }) => name === 'admin')!
  return {
    ...service,
    adminUrl,
    tokenFile,
    folder: path,
    ask: async (path, body, headers = {}) => {
      const response = await fetch(`${adminUrl}/v1/admin/${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${TOKEN}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? undefined : (JSON.parse(text) as unknown),
      }
    },
  }
}
