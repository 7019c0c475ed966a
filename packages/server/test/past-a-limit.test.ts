// Ways past a limit, through both doors of the service for proxies and their clients: auth requests and the reverse proxy.
import { request } from 'node:http'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { administered } from './admin/admin.ts'
import { upstreamOf, urlOf } from './upstream/behind.ts'

/** Sends a request as a client of the application would; the status that the client gets, and 200 when it may go on. */
type Send = (path: string, method?: string, fields?: Record<string, string>) => Promise<number>

async function sent(url: string, path: string, method: string, headers: Record<string, string>) {
  const outgoing = request(url, { path, method, headers, agent: false })
  outgoing.end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response
}

/** The doors, by how a request comes to them. */
const DOORS: Record<string, (service: Service) => Send> = {
  'an auth request of nginx': ({ url }) =>
    authRequests(url, 'nginx', 'x-original-uri', 'x-original-method'),
  'an auth request of Caddy': ({ url }) =>
    authRequests(url, 'caddy', 'x-forwarded-uri', 'x-forwarded-method'),
  'the reverse proxy':
    ({ proxy }) =>
    async (path, method = 'GET', fields = {}) =>
      (await sent(proxy, path, method, fields)).statusCode!,
}

function authRequests(url: string, kind: string, uri: string, methodField: string): Send {
  return async (path, method = 'GET', fields = {}) => {
    const headers = { [uri]: path, [methodField]: method, ...fields }
    const { headers: answer } = await sent(url, `/v1/auth/${kind}`, 'GET', headers)
    const status = Number(answer['sluice-status'])
    return status === 204 ? 200 : status
  }
}

interface Service {
  readonly url: string
  readonly proxy: string
}

async function service(file: object) {
  const upstream = await upstreamOf((incoming, response) => {
    incoming.resume()
    response.end('ok')
  })
  const admin = await administered({
    ...file,
    listeners: { proxy: { port: 0, upstream: urlOf(upstream) } },
  })
  return { ...admin, proxy: admin.listeners.find(({ name }) => name === 'proxy')!.url }
}

describe.each(Object.entries(DOORS))('through %s', (_, doorOf) => {
  const policies = [
    {
      name: 'api',
      rules: [{ name: 'login', when: { route: '/login' }, by: ['route'], limit: '1/h' }],
    },
  ]
  const spellings = [
    '/%2flogin',
    '/login/..%2flogin',
    '/a/b/..%2f..%2flogin',
    '/%5clogin',
    '/login;x=1',
  ]

  it('every spelling of a path counts as the same route', async () => {
    const send = doorOf(await service({ policies, proxy: { routes: ['/login', '/a/{b*}'] } }))
    expect(await send('/login')).toBe(200)
    const statuses = []
    for (const path of spellings) statuses.push(await send(path))
    expect(statuses).toEqual(spellings.map(() => 429))
    expect(await send('/elsewhere')).toBe(200)
  })

  it('paths that servers read differently are refused when the file says so', async () => {
    const proxy = { routes: ['/login'], ambiguousPaths: 'refuse' }
    const send = doorOf(await service({ policies, proxy }))
    const statuses = []
    for (const path of spellings) statuses.push(await send(path))
    expect(statuses).toEqual(spellings.map(() => 400))
    expect(await send('/login')).toBe(200)
  })

  it.each([true, false])(
    'a blocked client has no preflight either (countPreflights: %s)',
    async (countPreflights) => {
      const rules = [{ name: 'users', by: ['user'], limit: '100/h' }]
      const proxy = { countPreflights, attributes: { user: 'x-user' } }
      const admin = await service({ policies: [{ name: 'api', rules }], proxy })
      const send = doorOf(admin)
      const preflight = (user: string) =>
        send('/', 'OPTIONS', {
          origin: 'http://a.example',
          'access-control-request-method': 'POST',
          'x-user': user,
        })
      expect(await preflight('ann')).toBe(200)
      await admin.ask('block', { attributes: { user: 'ann' }, for: '1min' })
      expect(await preflight('ann')).toBe(429)
      expect(await preflight('bob')).toBe(200)
    },
  )
})
