// `headers` says once, for the whole service, which fields clients see.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../src/config/read-config.ts'
import { running } from './running.ts'

const policies = [{ name: 'api', rules: [{ name: 'all', by: [], limit: '5/min' }] }]

const configOf = (more: object) => {
  const { config, problems } = readConfig(JSON.stringify({ policies, ...more }), 'x')
  expect(problems).toEqual([])
  return config!
}

describe('in the file', () => {
  test.each([
    [{}, ['structured']],
    [{ headers: ['draft-6'] }, ['draft-6']],
    [{ headers: [] }, []],
    [
      { headers: ['draft-6'], proxy: { headers: ['x-ratelimit-epoch', 'structured'] } },
      ['x-ratelimit-epoch', 'structured'],
    ],
    [{ proxy: { headers: [] } }, []],
  ])('%o: proxies hand on %o', (more, dialects) => {
    expect(configOf(more).proxy.headers).toEqual(dialects)
  })

  test('a dialect that is nearly one is a mistake with a hint', () => {
    const { problems } = readConfig(JSON.stringify({ policies, headers: ['draft7'] }), 'x')
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^headers\[0\] is "draft7"; did you mean draft-7\?; accepted: structured,/,
      ),
    ])
  })

  test('an unknown dialect is a mistake', () => {
    const { problems } = readConfig(JSON.stringify({ policies, headers: ['x'] }), 'x')
    expect(problems.map(({ message }) => message)).toEqual([
      'headers[0] is "x"; accepted: structured, draft-11, draft-10, draft-9, draft-8, draft-7, draft-6, draft-3, ratelimit-triple, x-ratelimit-epoch, x-ratelimit-delta',
    ])
  })
})

/** The rate limit fields of an answer. */
function fieldsOf({ headers }: Response): string[] {
  return [...headers.keys()].filter((name) => name.includes('ratelimit')).toSorted()
}

describe('in the answers', () => {
  const cases: [object, string[]][] = [
    [{}, ['ratelimit', 'ratelimit-policy']],
    [
      { headers: ['x-ratelimit-epoch'] },
      ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
    ],
    [{ headers: [] }, []],
  ]

  test.each(cases)('%o: a proxy that asks gets %o', async (more, fields) => {
    const { url } = await running({ policies, ...more })
    const asked = await fetch(`${url}/v1/auth/caddy`, { headers: { 'x-forwarded-uri': '/' } })
    expect(fieldsOf(asked)).toEqual(fields)
  })

  test.each(cases)('%o: a client of the reverse proxy gets %o', async (more, fields) => {
    const upstream = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
    onTestFinished(() => void upstream.close())
    await new Promise((resolve) => upstream.once('listening', resolve))
    const { port } = upstream.address() as AddressInfo
    const proxy = { port: 0, upstream: `http://127.0.0.1:${port}` }
    const { listeners } = await running({ policies, listeners: { proxy }, ...more })
    const { url } = listeners.find(({ name }) => name === 'proxy')!
    expect(fieldsOf(await fetch(url))).toEqual(fields)
  })
})
