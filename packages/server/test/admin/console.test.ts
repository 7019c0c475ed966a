// The console's part of the admin listener: who may come in, and what a signed-in page may do.
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startRedis } from '../../../../test/servers/redis-server.ts'
import { signInCode } from '../../src/admin/console/session.ts'
import { digestOf } from '../../src/config/tokens.ts'
import { administered, TOKEN, type Admin } from './admin.ts'

const READER = 'reader-token-for-tests-0123456789-x'
const OWN = { 'sluice-console': '1', 'content-type': 'application/json' }

async function post(
  admin: Admin,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${admin.adminUrl}${path}`, {
    method: 'POST',
    headers: { ...OWN, ...headers },
    body: JSON.stringify(body),
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Body,
  }
}

async function signedIn(admin: Admin, token = TOKEN): Promise<string> {
  const { headers } = await post(admin, '/console/sign-in', { token })
  return headers.get('set-cookie')!.split(';')[0]!
}

/** What the answers may hold. */
interface Body {
  readonly code: string
  readonly detail: string
  readonly block: { readonly by: string }
  readonly problems: readonly { readonly message: string }[]
  readonly changes: readonly string[]
  readonly result: { readonly keys: readonly object[] } | null
}

const subject = { policy: 'api', attributes: { user: 'ann' } }

describe('the pages', () => {
  it('are served without a token, and hold nothing but the way to sign in', async () => {
    const { adminUrl } = await administered()
    const response = await fetch(`${adminUrl}/`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/html')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(await response.text()).not.toContain('per-user')
  })

  it('are small: at most 150 kB compressed in all, and name no other host', async () => {
    const { adminUrl } = await administered()
    const page = await (await fetch(`${adminUrl}/`)).text()
    const paths = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!)
    expect(paths.length).toBeGreaterThanOrEqual(3)
    let size = gzipSync(page).length
    for (const path of paths) {
      expect(path).toMatch(/^\//)
      const response = await fetch(`${adminUrl}${path}`)
      expect(response.status).toBe(200)
      size += gzipSync(Buffer.from(await response.arrayBuffer())).length
    }
    expect(size).toBeLessThanOrEqual(150_000)
  })

  it('are answered by 304 when the browser has them', async () => {
    const { adminUrl } = await administered()
    const tag = (await fetch(`${adminUrl}/`)).headers.get('etag')!
    const again = await fetch(`${adminUrl}/`, { headers: { 'if-none-match': tag } })
    expect(again.status).toBe(304)
  })
})

describe('signing in', () => {
  it('by a token sets a cookie that scripts cannot read and other sites cannot send', async () => {
    const admin = await administered()
    const { status, headers, body } = await post(admin, '/console/sign-in', { token: TOKEN })
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'ops', role: 'operate' })
    expect(headers.get('set-cookie')).toMatch(
      /^sluice_session=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=28800$/,
    )
  })

  it('by a link works once', async () => {
    const admin = await administered()
    const code = signInCode({ name: 'ops', role: 'operate', digest: digestOf(TOKEN) }, Date.now())
    expect((await post(admin, '/console/sign-in', { code })).status).toBe(200)
    const again = await post(admin, '/console/sign-in', { code })
    expect(again.status).toBe(403)
    expect(again.body.detail).toContain('was used or has ended')
  })

  it('by a link works once in all processes on one Redis', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const store = { kind: 'redis', url: redis.url, timeout: 2000 }
    const [one, other] = [await administered({ store }), await administered({ store })]
    const token = { name: 'ops', role: 'operate', digest: digestOf(TOKEN) } as const
    const code = signInCode(token, Date.now())
    expect((await post(one, '/console/sign-in', { code })).status).toBe(200)
    expect((await post(other, '/console/sign-in', { code })).status).toBe(403)
    await redis.stop()
    const unknown = await post(one, '/console/sign-in', { code: signInCode(token, Date.now()) })
    expect(unknown.status).toBe(503)
    expect(unknown.body.detail).toContain('sign in with a token')
  })

  it('with a wrong token is refused, counted and audited', async () => {
    const admin = await administered()
    const wrong = () => post(admin, '/console/sign-in', { token: 'not-a-token-of-this-service' })
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) statuses.push((await wrong()).status)
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 403), 429, 429])
    // The right token is let in all the same.
    expect((await post(admin, '/console/sign-in', { token: TOKEN })).status).toBe(200)
  })

  it.each([[{}], [null], ['text'], [{ token: 5 }], [{ token: '' }]])(
    'by %j is a clear error',
    async (body) => {
      const admin = await administered()
      const { status } = await post(admin, '/console/sign-in', body)
      expect([400, 403]).toContain(status)
    },
  )

  it('is refused to a page of another site', async () => {
    const admin = await administered()
    const send = (headers: Record<string, string>) =>
      fetch(`${admin.adminUrl}/console/sign-in`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ token: TOKEN }),
      })
    expect((await send({})).status).toBe(403)
    expect((await send({ ...OWN, origin: 'http://evil.example' })).status).toBe(403)
    expect((await send({ ...OWN, 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  })
})

describe('a promotion', () => {
  it('needs a session, the names of a rule, and a file', async () => {
    const admin = await administered()
    expect((await post(admin, '/console/promotion', {})).status).toBe(401)
    const cookie = await signedIn(admin)
    const bad = await post(admin, '/console/promotion', { rule: 5 }, { cookie })
    expect([bad.status, bad.body.code]).toEqual([400, 'invalid-body'])
    const asked = { policy: 'api', rule: 'per-user' }
    const { status, body } = await post(admin, '/console/promotion', asked, { cookie })
    expect(status).toBe(200)
    expect(body).toMatchObject({ diff: null, why: expect.stringContaining('file') as string })
  })
})

describe('a session', () => {
  it('reads and changes what its token may', async () => {
    const admin = await administered()
    const cookie = await signedIn(admin)
    const state = await fetch(`${admin.adminUrl}/v1/admin/state`, { headers: { cookie } })
    expect(state.status).toBe(200)
    const blocked = await post(admin, '/v1/admin/block', { ...subject, for: '1min' }, { cookie })
    expect(blocked.status).toBe(200)
    expect(blocked.body.block.by).toBe('ops')
  })

  it('changes nothing for a page of another site', async () => {
    const admin = await administered()
    const cookie = await signedIn(admin)
    const response = await fetch(`${admin.adminUrl}/v1/admin/block`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ ...subject, for: '1min' }),
    })
    expect(response.status).toBe(401)
    expect((await admin.ask('blocks')).body.blocks).toEqual([])
  })

  it('of a reader looks and changes nothing', async () => {
    const admin = await administered()
    writeFileSync(admin.tokenFile, `ops ${TOKEN}\nview read ${READER}\n`)
    await vi.waitFor(
      async () =>
        expect(
          (await admin.ask('state', undefined, { authorization: `Bearer ${READER}` })).status,
        ).toBe(200),
      10_000,
    )
    const cookie = await signedIn(admin, READER)
    expect((await post(admin, '/v1/admin/read', subject, { cookie })).status).toBe(200)
    const { status, body } = await post(admin, '/v1/admin/reset', subject, { cookie })
    expect([status, body.code]).toEqual([403, 'read-only'])
    const byToken = await admin.ask('reset', subject, { authorization: `Bearer ${READER}` })
    expect(byToken.status).toBe(403)
  })

  it('ends with its token, and the stream of events with it', async () => {
    const admin = await administered()
    writeFileSync(admin.tokenFile, `ops ${TOKEN}\nview read ${READER}\n`)
    const cookie = await vi.waitFor(() => signedIn(admin, READER), 10_000)
    const url = `${admin.adminUrl}/console/events`
    const text = await new Promise<string>((resolve, reject) => {
      const sent = request(url, { headers: { cookie } }, (response) => {
        let all = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (all += chunk))
        response.once('data', () => writeFileSync(admin.tokenFile, `ops ${TOKEN}\n`))
        response.on('end', () => resolve(all))
      })
      sent.on('error', reject).end()
    })
    expect(text).toContain('event: ended')
  })

  it('ends by signing out', async () => {
    const admin = await administered()
    const cookie = await signedIn(admin)
    const { headers } = await post(admin, '/console/sign-out', {}, { cookie })
    expect(headers.get('set-cookie')).toContain('Max-Age=0')
  })

  it('is asked for by everything but the pages', async () => {
    const { adminUrl } = await administered()
    const statuses: number[] = []
    for (const path of ['events', 'policy', 'audit'])
      statuses.push((await fetch(`${adminUrl}/console/${path}`)).status)
    expect(statuses).toEqual([401, 401, 401])
    const tried = await fetch(`${adminUrl}/console/try`, {
      method: 'POST',
      headers: OWN,
      body: '{}',
    })
    expect(tried.status).toBe(401)
    expect(await (await fetch(`${adminUrl}/console/session`)).json()).toEqual({ name: null })
  })
})

describe('the live feed', () => {
  it('begins with the history and goes on once a second, the same for all viewers', async () => {
    const admin = await administered()
    const cookie = await signedIn(admin)
    const viewers = await Promise.all([events(admin, cookie, 2), events(admin, cookie, 2)])
    for (const list of viewers) {
      expect(list[0]).toMatchObject({ event: 'history' })
      expect(list[0]!.data).toHaveProperty('names')
      expect(list[1]).toMatchObject({ event: 'tick' })
    }
    expect(viewers[0][1]).toEqual(viewers[1][1])
  })
})

describe('trying a change', () => {
  const withLimit = (limit: string) =>
    JSON.stringify({
      policies: [{ name: 'api', rules: [{ name: 'per-user', by: ['user'], limit }] }],
    })

  it('shows who would be newly refused, and changes nothing', async () => {
    const admin = await administered()
    const cookie = await signedIn(admin)
    for (let i = 0; i < 5; i++) await admin.post('/v1/check', { attributes: { user: 'ann' } })
    await admin.post('/v1/check', { attributes: { user: 'bob' } })
    const { status, body } = await post(
      admin,
      '/console/try',
      { text: withLimit('2/h') },
      { cookie },
    )
    expect(status).toBe(200)
    expect(body.problems).toEqual([])
    expect(body.changes).toContain('api/per-user: token bucket 5/h → token bucket 2/h')
    expect(body.result).toMatchObject({
      requests: 6,
      refusedBefore: 0,
      refusedAfter: 3,
      newlyRefused: 3,
      newlyAllowed: 0,
    })
    expect(body.result!.keys).toEqual([
      { policy: 'api', rule: 'per-user', attributes: { user: 'ann' }, newlyRefused: 3 },
    ])
    const read = await admin.ask('read', subject)
    expect(read.body.decision.limit.quota).toBe(5)
  })

  it('is refused while another trial runs', async () => {
    const admin = await administered()
    const cookie = await signedIn(admin)
    const rules = Array.from({ length: 500 }, (_, i) => ({
      name: `r${i}`,
      by: ['user'],
      limit: '9/h',
    }))
    const text = JSON.stringify({ policies: [{ name: 'api', rules }] })
    const checks = Array.from({ length: 300 }, (_, i) => ({ attributes: { user: `u${i}` } }))
    await admin.post('/v1/check', { checks })
    const tries = [1, 2, 3].map(() => post(admin, '/console/try', { text }, { cookie }))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 503, 503])
    expect((await post(admin, '/console/try', { text }, { cookie })).status).toBe(200)
  })

  it('shows mistakes at their place', async () => {
    const admin = await administered()
    const cookie = await signedIn(admin)
    const text =
      'policies:\n  - name: api\n    rules:\n      - { name: a, by: [user], limit: 5/parsec }\n'
    const { body } = await post(admin, '/console/try', { text }, { cookie })
    expect(body.result).toBeNull()
    expect(body.problems[0]).toMatchObject({ line: 4 })
    expect(body.problems[0]!.message).toContain('5/parsec')
  })

  it.each([[{}], [{ text: 5 }], [[]]])('with %j is a clear error', async (bad) => {
    const admin = await administered()
    const { status, body } = await post(admin, '/console/try', bad, {
      cookie: await signedIn(admin),
    })
    expect([status, body.code]).toEqual([400, 'invalid-body'])
  })
})

interface FeedEvent {
  readonly event: string
  readonly data: object
}

/** The first events of a stream. */
function events({ adminUrl }: Admin, cookie: string, wanted: number): Promise<FeedEvent[]> {
  return new Promise((resolve, reject) => {
    const sent = request(`${adminUrl}/console/events`, { headers: { cookie } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        const whole = text.split('\n\n').slice(0, -1)
        if (whole.length < wanted) return
        sent.destroy()
        resolve(
          whole.map((one) => {
            const [event = '', data = ''] = one.split('\n')
            return { event: event.slice(7), data: JSON.parse(data.slice(6)) as object }
          }),
        )
      })
    })
    sent.on('error', reject).end()
  })
}
