// The pages on the service against the service: files are valid, tables are complete, requests are answered.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startRedis } from '../../../test/servers/redis-server.ts'
import { authority } from '../../../test/tls/authority.ts'
import { VARIABLES } from '../src/config/environment.ts'
import { readConfig } from '../src/config/read-config.ts'
import { METHODS } from '../src/http/routes.ts'
import { reviewText } from '../src/review/review.ts'
import { administered, folder } from './admin/admin.ts'
import { running, sample } from './running.ts'

const page = (path: string) =>
  readFileSync(new URL(`../../../docs/${path}`, import.meta.url), 'utf8')
const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    (match) => match[1]!,
  )
const config = page('reference/service/config.md')
const api = page('reference/service/http-api.md')

describe('configuration', () => {
  const pages = [
    'guide/service.md',
    'reference/service/tls.md',
    'operate/deploy.md',
    'operate/workers.md',
  ]
  const files = [config, ...pages.map(page)].flatMap((text) => blocks(text, 'yaml'))
  it.each(files)('a file in the pages is valid and without traps: %#', (text) => {
    expect(readConfig(text, 'page').problems).toEqual([])
    expect(reviewText(text, 'page').warnings).toEqual([])
  })

  it('lists every variable with its field', () => {
    const rows = [...config.matchAll(/^\| `([A-Z_]+)` +\| `([\w.]+)` +\|$/gm)]
    expect(rows.map(([, name, field]) => [name, field])).toEqual(
      VARIABLES.map(({ name, field }) => [name, field]),
    )
  })

  it('lists every field of the file', () => {
    const { config: read } = readConfig(JSON.stringify(sample), 'x')
    for (const name of Object.keys(read!.listeners.http))
      expect(config).toContain(`| \`listeners.http.${name}\``)
    for (const name of ['policies', 'store', 'trustedProxies', 'log', 'shutdown.delay'])
      expect(config).toContain(`| \`${name}\``)
  })
})

describe('the HTTP API', () => {
  it('has its routes in the table', () => {
    const own = Object.entries(METHODS).filter(([path]) => !path.startsWith('/v1/auth/'))
    for (const [path, [method]] of own) expect(api).toContain(`\`${method} ${path}\``)
  })

  it('shows requests that are answered', async () => {
    const { post } = await running(sample)
    const [one, , batch] = blocks(api, 'json')
    expect((await post('/v1/check', one!)).body).toMatchObject({ allowed: true })
    expect((await post('/v1/check', batch!)).body.decisions).toMatchObject([
      { rule: 'per-key' },
      { rule: 'per-key' },
    ])
  })

  it('shows an answer with the fields that answers have', async () => {
    const { post } = await running(sample)
    const shown = JSON.parse(blocks(api, 'json')[1]!) as object
    const { body } = await post('/v1/check', { key: 'a' })
    expect(Object.keys(body)).toEqual(Object.keys(shown))
  })
})

describe('metrics', () => {
  it('has every figure of the service in the table, and no other', async () => {
    const { metrics, post } = await running({
      policies: [
        {
          name: 'api',
          rules: [
            { name: 'a', by: ['key'], limit: '1/h', shadow: true },
            { name: 'b', by: ['key'], limit: '1/h', onExceed: 'mark' },
          ],
        },
      ],
    })
    // Twice, so that the age of a key is known.
    for (let i = 0; i < 2; i++) await post('/v1/check', { key: 'a' })
    const text = await metrics()
    const served = [...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]!)
    const rows = page('reference/service/metrics.md').matchAll(/^\| `(\w+)` /gm)
    const listed = [...rows].map((match) => match[1]!)
    // These need a file that is watched, a store that can fail, or another listener.
    const others =
      /^sluice_(redis|lease|synced|coordination|tls|config|envoy|grpc|breaker|store_errors|store_late|blocks|live_overrides|admin|debug|proxy|workers?)/
    expect(listed.filter((name) => !others.test(name)).toSorted()).toEqual(served.toSorted())
  })

  it('lists the metrics of Redis and of leases, all of them', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const { metrics } = await running({
      policies: [
        {
          name: 'api',
          rules: [{ name: 'a', by: ['key'], limit: '9/h', coordination: 'leased' }],
        },
      ],
      store: { kind: 'redis', url: redis.url },
    })
    const served = [...(await metrics()).matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]!)
    const rows = page('reference/service/metrics.md').matchAll(/^\| `(\w+)` /gm)
    const listed = [...rows].map((match) => match[1]!)
    expect(served.filter((name) => !listed.includes(name))).toEqual([])
    const own = /^sluice_(redis|leas|synced|coordination|breaker|store_duration)/
    expect(served.filter((name) => own.test(name)).toSorted()).toEqual(
      listed.filter((name) => own.test(name)).toSorted(),
    )
  })

  it('lists the metrics of every listener and of TLS, and no other', async () => {
    const upstream = 'http://127.0.0.1:1'
    const limits = join(folder(), 'limits.yaml')
    writeFileSync(
      limits,
      'domain: shop\ndescriptors: [{ key: user, rate_limit: { unit: hour, requests_per_unit: 1 } }]\n',
    )
    const ours = authority()
    onTestFinished(() => ours.close())
    const { metrics, ask, listeners } = await administered({
      listeners: {
        grpc: { port: 0, tls: ours.issue('localhost') },
        proxy: { port: 0, upstream },
      },
      envoy: { files: [limits] },
    })
    await ask('state')
    await fetch(listeners.find(({ name }) => name === 'proxy')!.url)
    const served = [...(await metrics()).matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]!)
    const rows = page('reference/service/metrics.md').matchAll(/^\| `(\w+)` /gm)
    const listed = [...rows].map((match) => match[1]!)
    expect(served.filter((name) => !listed.includes(name))).toEqual([])
    const own = /^sluice_(tls|grpc|envoy_(descriptor|files)|proxy(?!_llm)|admin|blocks|live)/
    expect(served.filter((name) => own.test(name)).toSorted()).toEqual(
      listed.filter((name) => own.test(name)).toSorted(),
    )
  })
})
