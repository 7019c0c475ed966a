// The importers on files as users have them: the policy file, the notes, and the rewritten source code.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { readConfig, reviewText } from '@sluice/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { importCommand, type ImportFlags } from './import.ts'

// Inside the workspace, where imports find their packages; the name is one that git and the tools ignore.
const here = fileURLToPath(new URL('../../', import.meta.url))

interface Run {
  readonly code: number
  readonly printed: string
  readonly errors: string
  readonly file: string
}

async function imported(
  from: string,
  name: string,
  text: string,
  flags: ImportFlags = {},
): Promise<Run> {
  const folder = mkdtempSync(join(here, 'dist-import-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, name)
  writeFileSync(file, text)
  let printed = ''
  let errors = ''
  const code = await importCommand(from, file, flags, {
    stdin: new PassThrough(),
    stdout: { write: (part) => (printed += part) },
    stderr: { write: (part) => (errors += part) },
    signal: new AbortController().signal,
  })
  return { code, printed, errors, file }
}

/** The rules of a printed file, which the service accepts. */
function rulesOf({ printed }: Run): unknown {
  expect(readConfig(printed, 'imported.yaml').problems).toEqual([])
  return (parse(printed) as { policies: { rules: unknown }[] }).policies[0]!.rules
}

const express = `import express from 'express'
import rateLimit from 'express-rate-limit'

export const app = express()
app.use(
  rateLimit({
    windowMs: 15 * 60 * 1000,
    max: 2,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    message: 'Slow down.',
    statusCode: 420,
    skip: (request) => request.path === '/health',
    validate: true,
  }),
)
app.get(/.*/, (request, response) => response.send('ok'))
`

describe('sluice import express-rate-limit', () => {
  it('writes one rule for each call', async () => {
    const run = await imported('express-rate-limit', 'app.js', express)
    expect(run.code).toBe(0)
    expect(rulesOf(run)).toEqual([
      {
        name: 'limit-1',
        by: ['ip'],
        limit: { quota: 2, window: '15min', algorithm: 'fixed-window', anchor: 'first' },
      },
    ])
  })

  it('writes the path and the method of a mount as the condition', async () => {
    const run = await imported(
      'express-rate-limit',
      'app.js',
      `import express, { Router } from 'express'
import rateLimit from 'express-rate-limit'
const app = express()
const api = Router()
const BASE = '/v1'
const strict = rateLimit({ windowMs: 60_000, max: 3 })
app.use(BASE, api)
app.use('/login', rateLimit({ windowMs: 60_000, max: 5 }))
app.post('/reset', rateLimit({ windowMs: 60_000, max: 6 }), (request, response) => response.end())
app.use(helmet(), rateLimit({ windowMs: 60_000, max: 7 }))
app.get(['/a', '/orders/:id'], [rateLimit({ windowMs: 60_000, max: 8 })], handler)
app.route('/c').put(rateLimit({ windowMs: 60_000, max: 9 }), handler)
api.delete('/items/', strict, handler)
app.post('/d', strict, handler)
api.use(rateLimit({ windowMs: 60_000, max: 10 }))
app.all('/files/*', rateLimit({ windowMs: 60_000, max: 11 }))
`,
    )
    const rules = rulesOf(run) as { name: string; when?: unknown; limit: { quota: number } }[]
    expect(rules.map(({ when, limit }) => [limit.quota, when])).toEqual([
      [3, { method: 'DELETE', route: '/v1/items' }],
      [3, { method: 'POST', route: '/d' }],
      [5, { route: ['/login', '/login/*'] }],
      [6, { method: 'POST', route: '/reset' }],
      [7, undefined],
      [8, { method: 'GET', route: ['/a', '/orders/:id'] }],
      [9, { method: 'PUT', route: '/c' }],
      [10, { route: ['/v1', '/v1/*'] }],
      [11, { route: '/files/*' }],
    ])
    expect(rules.map(({ name }) => name)).toEqual(rules.map((_, i) => `limit-${i + 1}`))
    expect(run.errors).toContain('app.js:14: the routes of this limit share one count there')
    const { warnings } = reviewText(run.printed, 'imported.yaml')
    expect(
      warnings.filter(({ code }) => !['untrusted-address', 'login-window'].includes(code)),
    ).toEqual([])
  })

  it('lists mounts that a condition cannot say, with the line', async () => {
    const run = await imported(
      'express-rate-limit',
      'app.js',
      `import rateLimit from 'express-rate-limit'
app.use(/^\\/(login|reset)/, rateLimit({ max: 5 }))
app.get(config.path, rateLimit({ max: 6 }), handler)
app.use(\`/\${version}\`, rateLimit({ max: 7 }))
userRouter.post('/', rateLimit({ max: 8 }))
export const later = rateLimit({ max: 9 })
protect(rateLimit({ max: 10 }))
app.use(config.base, rateLimit({ max: 11 }))
`,
    )
    expect(rulesOf(run)).toMatchObject([
      { when: { method: 'POST', route: '/' }, limit: { quota: 8 } },
      { limit: { quota: 9 } },
      { limit: { quota: 10 } },
      { limit: { quota: 11 } },
    ])
    for (const note of [
      'app.js:2: use: /^\\/(login|reset)/ is not a path that a condition can say; no rule was written',
      'app.js:3: get: config.path is not a path that a condition can say; no rule was written',
      'app.js:4: use: `/${version}` is not a path',
      'app.js:5: userRouter is mounted in another file',
      'app.js:6: this file does not mount the limiter; its rule applies to every route',
      'app.js:7: this file does not mount the limiter',
      'app.js:8: use: config.base may be a path; the rule applies to every route',
    ])
      expect(run.errors).toContain(note)
  })

  it('reads TypeScript, require, and defaults', async () => {
    const typed = `import { rateLimit as limiter, type Options } from 'express-rate-limit'
const all: unknown = limiter({ limit: 7 } satisfies Partial<Options>), other = limiter({ limit: 7 })`
    const [rule] = rulesOf(await imported('express-rate-limit', 'a.ts', typed)) as object[]
    expect(rule).toMatchObject({ limit: { quota: 7, window: '1min' } })
    const required = `const { rateLimit } = require('express-rate-limit'); module.exports = rateLimit()`
    expect(rulesOf(await imported('express-rate-limit', 'a.cjs', required))).toMatchObject([
      { limit: { quota: 5, window: '1min' } },
    ])
  })

  it('says what it cannot translate, with the line', async () => {
    const run = await imported(
      'express-rate-limit',
      'app.js',
      `import rateLimit from 'express-rate-limit'
const one = rateLimit({
  limit: 5,
  store: new RedisStore({ client }),
  colour: 'red',
})
const two = rateLimit({ limit: (req) => (req.user ? 100 : 5) })
const three = rateLimit(options)
`,
    )
    expect(run.code).toBe(0)
    for (const note of [
      'app.js:4: store: write store: redisStore(client)',
      'app.js:5: colour is not an option that is known',
      'app.js:7: limit is a function of the request',
      'app.js:8: these options are computed at run time',
    ])
      expect(run.errors).toContain(note)
    expect(run.printed).toContain('# - line 4: store: write store: redisStore(client)')
  })

  it('says what only source code can carry over, unless it edits that', async () => {
    const text = `import rateLimit from 'express-rate-limit'
export const login = rateLimit({
  limit: 5,
  keyGenerator: (request) => request.body.email,
  skipSuccessfulRequests: true,
  skipFailedRequests: false,
  message: 'Slow down.',
})
`
    const run = await imported('express-rate-limit', 'login.js', text)
    expect(rulesOf(run)).toMatchObject([{ by: ['key'], limit: { quota: 5 } }])
    for (const note of [
      'login.js:4: keyGenerator: the rule counts by the attribute key',
      'login.js:5: skipSuccessfulRequests: the service charges before the answer is known',
      'login.js:7: message: a policy says nothing of the reply',
    ])
      expect(run.errors).toContain(note)
    expect(run.printed).toContain('# - line 5: skipSuccessfulRequests: the service charges')
    expect(run.errors).not.toContain('skipFailedRequests')
    const edited = await imported('express-rate-limit', 'login.js', text, { write: true })
    expect(edited.errors).not.toContain('login.js:5')
  })

  it('rewrites source code that works as before', async () => {
    const { code, file } = await imported('express-rate-limit', 'app.mjs', express, { write: true })
    expect(code).toBe(0)
    const text = readFileSync(file, 'utf8')
    expect(text).toContain("import { rateLimit } from 'sluice/http/express'")
    expect(text).not.toContain('express-rate-limit')
    const { app } = (await import(/* @vite-ignore */ file)) as { app: RequestListener }
    const server = createServer(app).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const statuses = []
    for (const path of ['/', '/health', '/', '/health', '/', '/health'])
      statuses.push((await fetch(url + path)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 420, 200])
    const refused = await fetch(url)
    expect(await refused.text()).toBe('Slow down.')
    expect(refused.headers.get('ratelimit-policy')).toContain('q=2;w=900')
    expect(refused.headers.has('x-ratelimit-limit')).toBe(false)
    server.closeAllConnections()
  })

  it('leaves a file alone that it cannot rewrite as a whole', async () => {
    const text = "import rateLimit from 'express-rate-limit'\nexport default rateLimit(options)\n"
    const { code, file, errors } = await imported('express-rate-limit', 'a.mjs', text, {
      write: true,
    })
    expect([code, readFileSync(file, 'utf8')]).toEqual([1, text])
    expect(errors).toContain('was not changed')
  })
})

describe('sluice import @fastify/rate-limit', () => {
  const fastify = `import Fastify from 'fastify'
import fastifyRateLimit from '@fastify/rate-limit'

export const app = Fastify()
await app.register(fastifyRateLimit, {
  max: 2,
  timeWindow: '1 minute',
  allowList: ['10.0.0.1'],
  keyGenerator: (request) => request.headers['x-user'] ?? request.ip,
})
app.get('/', () => 'ok')
`

  it('writes a rule', async () => {
    const run = await imported('@fastify/rate-limit', 'app.mjs', fastify)
    expect(rulesOf(run)).toMatchObject([{ limit: { quota: 2, window: '1min' } }])
    expect(run.errors).toContain('keyGenerator: the rule counts by the attribute key')
  })

  it('rewrites source code that works as before', async () => {
    const { code, file } = await imported('@fastify/rate-limit', 'app.mjs', fastify, {
      write: true,
    })
    expect(code).toBe(0)
    const { app } = (await import(/* @vite-ignore */ file)) as {
      app: { inject(o: object): Promise<{ statusCode: number; headers: object }>; close(): void }
    }
    onTestFinished(() => app.close())
    const statuses = []
    for (const user of ['ann', 'ann', 'ann', 'bob'])
      statuses.push((await app.inject({ url: '/', headers: { 'x-user': user } })).statusCode)
    expect(statuses).toEqual([200, 200, 429, 200])
    const { headers } = await app.inject({ url: '/', headers: { 'x-user': 'bob' } })
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '0' })
  })
})

describe('sluice import @fastify/rate-limit with limits of routes', () => {
  it('writes the route and the method as the condition', async () => {
    const run = await imported(
      '@fastify/rate-limit',
      'app.mjs',
      `import rateLimit from '@fastify/rate-limit'
await app.register(rateLimit, { max: 100, timeWindow: '1 minute' })
app.post('/login', { config: { rateLimit: { max: 5, timeWindow: 60_000 } } }, handler)
app.route({ method: ['GET', 'PUT'], url: '/orders/:id', config: { rateLimit: { max: 6 } }, handler })
app.get('/health', { config: { rateLimit: false } }, handler)
app.get(path, { config: { rateLimit: { max: 7 } } }, handler)
const shared = { config: { rateLimit: { max: 8 } } }
app.register(async (inner) => {
  await inner.register(rateLimit, { max: 9 })
  inner.get('/a', { config: { rateLimit: { max: 10 } } }, handler)
}, { prefix: '/v1' })
app.register(async (inner) => { await inner.register(rateLimit, { max: 11 }) })
`,
    )
    const rules = rulesOf(run) as { when?: unknown; limit: { quota: number } }[]
    expect(rules.map(({ when, limit }) => [limit.quota, when])).toEqual([
      [100, undefined],
      [9, { route: ['/v1', '/v1/*'] }],
      [11, undefined],
      [5, { method: 'POST', route: '/login' }],
      [6, { method: ['GET', 'PUT'], route: '/orders/:id' }],
      [10, { method: 'GET', route: '/v1/a' }],
    ])
    for (const note of [
      'app.mjs:3: a limit of one route replaces the limit around it there; here both count',
      'app.mjs:5: rateLimit: false: the route has no limit there; here the rules without a route count it',
      'app.mjs:6: a limit of one route: its path is not known; no rule was written for it',
      'app.mjs:7: a limit of one route: its path is not known; no rule was written for it',
      'app.mjs:12: it limits the routes of one plugin there; the rule applies to every route',
    ])
      expect(run.errors).toContain(note)
    const { warnings } = reviewText(run.printed, 'imported.yaml')
    expect(
      warnings.filter(({ code }) => code.startsWith('route') || code.startsWith('attribute')),
    ).toEqual([])
  })
})

describe('sluice import rate-limiter-flexible', () => {
  it('writes one rule for each limiter', async () => {
    const run = await imported(
      'rate-limiter-flexible',
      'limits.ts',
      `import { RateLimiterMemory, RateLimiterRedis, RateLimiterUnion } from 'rate-limiter-flexible'
const login = new RateLimiterRedis({ storeClient: redis, keyPrefix: 'login', points: 5, duration: 60 * 15, blockDuration: 900 })
const api = new RateLimiterMemory({ points: 100, duration: 1, execEvenly: true })
const both = new RateLimiterUnion(login, api)
`,
    )
    expect(rulesOf(run)).toEqual([
      {
        name: 'login',
        by: ['key'],
        limit: { quota: 5, window: '15min', algorithm: 'fixed-window', anchor: 'first' },
      },
      {
        name: 'limit-2',
        by: ['key'],
        limit: { quota: 100, window: '1s', algorithm: 'leaky-bucket' },
      },
    ])
    expect(run.errors).toContain('limits.ts:2: blockDuration: write a second rule')
    expect(run.errors).toContain('limits.ts:4: RateLimiterUnion: write one policy with both rules')
    expect(run.errors).toContain('consume(key, points) becomes check(key, cost)')
  })
})

describe('sluice import', () => {
  it('says that a limit of HEAD alone becomes one of GET', async () => {
    const app = `import express from 'express'
import { rateLimit } from 'express-rate-limit'
const app = express()
app.head('/x', rateLimit({ windowMs: 1000, limit: 5 }))
app.get('/y', rateLimit({ windowMs: 1000, limit: 5 }))
`
    const run = await imported('express-rate-limit', 'app.js', app)
    expect(run.errors).toContain('app.js:4: HEAD counts as GET here')
    expect(run.errors).not.toContain('app.js:5: HEAD')
  })

  it('never enforces what quota_mode only reports', async () => {
    const limit = 'rate_limit: { unit: day, requests_per_unit: 5 }'
    const text = `domain: a\ndescriptors: [{ key: k, quota_mode: true, ${limit} }]\n`
    const run = await imported('envoy', 'a.yaml', text)
    expect(rulesOf(run)).toMatchObject([{ name: 'k', shadow: true }])
    expect(run.errors).toContain('quota_mode has no counterpart')
  })
})

describe('sluice import nginx', () => {
  it('says which files, variables and hosts it leaves out', async () => {
    const run = await imported(
      'nginx',
      'nginx.conf',
      `map $limited $limit_key { 0 ""; 1 $binary_remote_addr; }
limit_req_zone $limit_key zone=a:1m rate=5r/s;
include conf.d/*.conf;
server { server_name a.example; limit_req zone=a; }
server { server_name b.example; location /b { limit_req zone=a; } }
`,
    )
    for (const line of [
      'nginx.conf:2: $limit_key: map and geo are not translated',
      'nginx.conf:3: include: conf.d/*.conf is not read',
      'nginx.conf:4: limit_req: the rule applies to every host; for one server write when: { host: a.example }',
      'nginx.conf:5: limit_req: the rule applies to every host; for one server write when: { host: b.example }',
    ])
      expect(run.errors).toContain(line)
    expect(run.errors).not.toContain('nginx.conf:5: limit_req in a location replaces')
  })

  it('writes one rule for each limit_req', async () => {
    const run = await imported(
      'nginx',
      'nginx.conf',
      `http {
  # limit_req_zone $comment zone=none:1m rate=1r/s;
  limit_req_zone $binary_remote_addr zone=all:10m rate=10r/s;
  limit_req_zone "$http_x_tenant" zone=tenant:10m rate=90r/m;
  limit_req_status 429;
  server {
    limit_req zone=all burst=20 nodelay;
    location /login { limit_req zone=all; }
    location ~ \\.php$ { limit_req zone=tenant burst=5; }
    location / { limit_req zone=missing; limit_conn perip 5; }
  }
}
`,
    )
    expect(rulesOf(run)).toEqual([
      { name: 'all', by: ['ip'], limit: { quota: 10, window: 's', algorithm: 'gcra', burst: 21 } },
      {
        name: 'all-2',
        when: { route: ['/login', { equals: '/login/{rest*}' }] },
        by: ['ip'],
        limit: { quota: 10, window: 's', algorithm: 'gcra', burst: 1 },
      },
      {
        name: 'tenant-3',
        by: ['x_tenant'],
        limit: { quota: 90, window: 'min', algorithm: 'leaky-bucket', burst: 6 },
      },
    ])
    for (const note of [
      'nginx.conf:8: limit_req in a location replaces those around it in nginx',
      'nginx.conf:9: location ~ \\.php$: only paths are translated; the rule applies to every path',
      'nginx.conf:5: limit_req_status: the status is 429',
      'nginx.conf:10: limit_req: the zone missing is not in this file',
      'nginx.conf:10: limit_conn: limits of connections at once',
    ])
      expect(run.errors).toContain(note)
    expect(parse(run.printed)).toMatchObject({
      proxy: { routes: ['/login', '/login/{rest*}'], attributes: { x_tenant: 'x-tenant' } },
    })
  })

  it('writes a file whose rules a proxy can meet', async () => {
    const run = await imported(
      'nginx',
      'nginx.conf',
      `limit_req_zone $host$uri zone=a:1m rate=1r/s;
server {
  location = / { limit_req zone=a; }
  location ^~ /static/ { limit_req zone=a; }
}
`,
    )
    expect(rulesOf(run)).toMatchObject([
      { by: ['host', 'route'], when: { route: ['/'] } },
      { by: ['host', 'route'], when: { route: ['/static', { equals: '/static/{rest*}' }] } },
    ])
    expect(run.errors).toContain('nginx.conf:1: $uri: paths never count as they are')
    const { warnings } = reviewText(run.printed, 'imported.yaml')
    expect(warnings.filter(({ code }) => code !== 'untrusted-address')).toEqual([])
    expect(parse(run.printed)).toMatchObject({ proxy: { attributes: { host: 'host' } } })
  })
})

describe('sluice import envoy', () => {
  it('writes one rule for each limit', async () => {
    const run = await imported(
      'envoy',
      'shop.yaml',
      `domain: shop
descriptors:
  - key: remote_address
    rate_limit: { unit: second, requests_per_unit: 10 }
  - key: plan
    value: free
    descriptors:
      - key: user
        rate_limit: { unit: hour, requests_per_unit: 100 }
        shadow_mode: true
  - key: internal
    rate_limit: { unlimited: true }
  - key: monthly
    rate_limit: { unit: fortnight, requests_per_unit: 5 }
`,
    )
    expect(rulesOf(run)).toEqual([
      {
        name: 'remote_address',
        by: ['remote_address'],
        limit: { quota: 10, window: '1s', algorithm: 'fixed-window' },
      },
      {
        name: 'plan_free.user',
        when: { plan: 'free' },
        by: ['user'],
        limit: { quota: 100, window: '1h', algorithm: 'fixed-window' },
        shadow: true,
      },
    ])
    expect(run.errors).toContain('the service reads this file as it is')
    expect(run.errors).toContain('internal: unlimited')
    expect(run.errors).toContain('monthly: its unit "fortnight" is not known')
  })

  it('names what it accepts', async () => {
    await expect(imported('envoy', 'a.yaml', 'policies: []')).rejects.toThrow(/no domain and/)
    await expect(imported('bucket4j', 'a.yaml', '')).rejects.toThrow(
      'bucket4j cannot be imported; accepted: express-rate-limit, @fastify/rate-limit',
    )
    expect((await imported('nginx', 'a.conf', 'http {}')).code).toBe(1)
  })
})
