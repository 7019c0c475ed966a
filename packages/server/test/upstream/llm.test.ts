// LLM routes of the reverse proxy: tokens are reserved before, and settled by what the response says or by the estimate.
import { request, type IncomingMessage, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { behind, upstreamOf } from './behind.ts'

const policies = (rules: object[]): object => ({ policies: [{ name: 'llm', rules }] })
const tokens = {
  name: 'tokens',
  by: [],
  limit: { quota: 1000, window: '1day', algorithm: 'fixed-window' },
  hold: '60s',
  weights: { input: 1, cached: 0.5, output: 2 },
}
const USAGE = {
  prompt_tokens: 30,
  completion_tokens: 10,
  prompt_tokens_details: { cached_tokens: 20 },
}
/** 10 input, 20 cached, 10 output. */
const COST = 10 + 10 + 20
/** The first estimate is a twentieth of the limit. */
const ESTIMATE = 50

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const json =
  (body: unknown): Answer =>
  (incoming, response) => {
    incoming.resume()
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(body))
  }

async function llm(answer: Answer, rules: object[] = [tokens]) {
  const service = await behind(answer, { llm: ['/v1/chat', '/v1/messages*'] }, policies(rules))
  const left = async (): Promise<number> => {
    const response = await fetch(`${service.url}/v1/peek`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"attributes":{}}',
    })
    return ((await response.json()) as { remaining: number }).remaining
  }
  const usage = (of: string): Promise<number> =>
    service.figure(`sluice_proxy_llm_requests_total{usage="${of}"}`)
  return { ...service, left, usage }
}

describe('a route told to be an LLM API', () => {
  it('is charged by the usage in its body, weighed by kind', async () => {
    const { proxy, left, usage } = await llm(json({ usage: USAGE }))
    expect(await (await fetch(`${proxy}/v1/chat`, { method: 'POST', body: '{}' })).json()).toEqual({
      usage: USAGE,
    })
    await until('the charge or the slot', 5000, async () => (await left()) === 1000 - COST)
    expect(await usage('read')).toBe(1)
  })

  it.each(['/v1//chat', '/v1/./chat', '/V1/chat/', '/v1/c%68at', '/v1/messages/count?x=1'])(
    'is one in another spelling too: %s',
    async (path) => {
      const { port, usage } = await llm(json({ usage: USAGE }))
      await new Promise<void>((resolve) => {
        request({ port, path, host: '127.0.0.1' }, (answer) => {
          answer.resume().on('end', () => resolve())
        }).end()
      })
      await until('the charge or the slot', 5000, async () => (await usage('read')) === 1)
      expect(await usage('read')).toBe(1)
    },
  )

  it('is charged by the usage at the end of a stream, which is forwarded as it comes', async () => {
    let finish: (() => void) | undefined
    const { proxy, left } = await llm((_, response) => {
      response.setHeader('Content-Type', 'text/event-stream')
      response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n')
      finish = () => response.end(`data: {"usage":${JSON.stringify(USAGE)}}\n\ndata: [DONE]\n\n`)
    })
    const response = await fetch(`${proxy}/v1/chat`)
    const reader = response.body!.getReader()
    expect(Buffer.from((await reader.read()).value!).toString()).toContain('"a"')
    // The estimate is held meanwhile.
    expect(await left()).toBe(1000 - ESTIMATE)
    finish!()
    while (!(await reader.read()).done);
    await until('the charge or the slot', 5000, async () => (await left()) === 1000 - COST)
    expect(response.status).toBe(200)
  })

  it.each<[string, Answer]>([
    ['does not tell its usage', json({ choices: [] })],
    [
      'is compressed although nobody accepts that',
      (incoming, response) => {
        expect(incoming.headers['accept-encoding']).toBeUndefined()
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' })
        response.end(gzipSync(JSON.stringify({ usage: USAGE })))
      },
    ],
  ])('is charged by the estimate when the response %s', async (_, answer) => {
    const { proxy, left, usage } = await llm(answer)
    await (await fetch(`${proxy}/v1/chat`)).text()
    await until('the charge or the slot', 5000, async () => (await usage('unknown')) === 1)
    await until('the charge or the slot', 5000, async () => (await left()) === 1000 - ESTIMATE)
    expect(await usage('read')).toBe(0)
  })

  it('is charged by the estimate when the client leaves a stream', async () => {
    const { proxy, left, usage } = await llm((_, response) => {
      response.setHeader('Content-Type', 'text/event-stream')
      response.write('data: {"type":"message_start","message":{"usage":{"input_tokens":5}}}\n\n')
    })
    const leaving = new AbortController()
    const response = await fetch(`${proxy}/v1/messages`, { signal: leaving.signal })
    await response.body!.getReader().read()
    leaving.abort()
    await until('the charge or the slot', 5000, async () => (await usage('unknown')) === 1)
    await until('the charge or the slot', 5000, async () => (await left()) === 1000 - ESTIMATE)
    expect(await usage('read')).toBe(0)
  })

  it('costs nothing when the upstream fails', async () => {
    const { proxy, left, usage } = await llm((_, response) => {
      response.writeHead(500, { 'Content-Type': 'application/json' }).end('{"error":{}}')
    })
    await (await fetch(`${proxy}/v1/chat`)).text()
    await until('the charge or the slot', 5000, async () => (await usage('failed')) === 1)
    expect(await left()).toBe(1000)
  })

  it('is refused with 429 while the budget is held, and the upstream is not asked', async () => {
    let asked = 0
    const { proxy } = await llm(
      (_, response) => {
        asked++
        response.setHeader('Content-Type', 'text/event-stream')
        response.flushHeaders()
      },
      [{ ...tokens, limit: { ...tokens.limit, quota: 2 } }],
    )
    const leaving = new AbortController()
    const open = () => fetch(`${proxy}/v1/chat`, { signal: leaving.signal })
    expect([(await open()).status, (await open()).status]).toEqual([200, 200])
    const refused = await open()
    expect([refused.status, asked]).toEqual([429, 2])
    expect(await refused.json()).toMatchObject({ 'violated-policies': ['tokens'] })
    leaving.abort()
  })
})

describe('what is wrong with llm', () => {
  const problemsOf = (llm: unknown, rules: object[] = [tokens]): readonly string[] => {
    const listeners = { proxy: { upstream: 'http://127.0.0.1:1', llm } }
    const text = JSON.stringify({ ...policies(rules), listeners })
    return readConfig(text, 'test').problems.map(({ message }) => message)
  }

  it.each<[unknown, RegExp]>([
    ['/v1/chat', /listeners\.proxy\.llm.*a list of paths/],
    [['v1/chat'], /listeners\.proxy\.llm\[0\].*a path such as/],
    [['/v1/*/chat'], /listeners\.proxy\.llm\[0\].*a path such as/],
    [[7], /listeners\.proxy\.llm\[0\].*a path such as/],
  ])('is a mistake with its path: %j', (llm, message) => {
    expect(problemsOf(llm).join()).toMatch(message)
  })

  it('is a mistake on a policy that reserves nothing', () => {
    const plain = { name: 'all', by: [], limit: '1/s' }
    expect(problemsOf(['/v1/chat'], [plain]).join()).toMatch(/no rule of the policy llm reserves/)
    expect(problemsOf(['/v1/chat'])).toEqual([])
  })
})

describe('slots of the reverse proxy', () => {
  const slots = { name: 'at-once', by: [], concurrency: 1, hold: '60s' }

  it('leave it to client and upstream whether the response is compressed', async () => {
    let accepted: unknown
    const { proxy } = await behind(
      (incoming, response) => {
        accepted = incoming.headers['accept-encoding']
        response.end()
      },
      {},
      policies([slots]),
    )
    await (await fetch(proxy, { headers: { 'accept-encoding': 'gzip' } })).text()
    expect(accepted).toBe('gzip')
  })

  it('come free when the response ends, and when the client leaves', async () => {
    const server = await upstreamOf((incoming, response) => {
      if (incoming.url === '/slow') response.flushHeaders()
      else response.end('ok')
    })
    const { proxy } = await behind(server, {}, policies([slots]))
    const status = async (): Promise<number> => {
      const response = await fetch(`${proxy}/fast`)
      await response.text()
      return response.status
    }
    await until('the charge or the slot', 5000, async () => (await status()) === 200)
    for (let i = 0; i < 20; i++) {
      const leaving = new AbortController()
      await until('the charge or the slot', 5000, async () => {
        const response = await fetch(`${proxy}/slow`, { signal: leaving.signal })
        return response.status === 200
      })
      expect(await status()).toBe(429)
      leaving.abort()
      await until('the charge or the slot', 5000, async () => (await status()) === 200)
    }
  })
})
