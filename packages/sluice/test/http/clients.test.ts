// Clients that people use obey our refusals: they wait as long as they are told, then they succeed.
import { Octokit } from '@octokit/core'
import { retry } from '@octokit/plugin-retry'
import { throttling } from '@octokit/plugin-throttling'
import got from 'got'
import ky from 'ky'
import { Agent, interceptors, request } from 'undici'
import { describe, expect, it } from 'vitest'
import type { HttpOptions } from '../../src/http/index.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { serving } from './serving.ts'

/** One request in 600 ms: a refusal that comes at once says to wait a second. */
async function limited(options: HttpOptions<never> = {}): Promise<string> {
  const limiter = createLimiter({ limit: { quota: 1, window: 600 } })
  const problem = (details: object) => ({ ...details, message: 'Too many requests' })
  const url = await serving(limiter, { problem, ...options } as never, (_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"ok":true}')
  })
  return url
}

/** Uses up what there is, and says how a client fared after that. */
async function fared(
  url: string,
  call: () => Promise<unknown>,
): Promise<{ answer: unknown; waited: number }> {
  const first = await fetch(url)
  await first.text()
  const began = performance.now()
  const answer = await call()
  return { answer, waited: performance.now() - began }
}

describe.concurrent('clients that retry', () => {
  it.each<[string, (url: string) => Promise<unknown>]>([
    ['ky', (url) => ky(url).json()],
    ['got', (url) => got(url).json()],
    [
      'undici',
      async (url) => {
        const dispatcher = new Agent().compose(interceptors.retry({ statusCodes: [429] }))
        const { body } = await request(url, { dispatcher })
        return body.json()
      },
    ],
  ])('%s waits for Retry-After, then succeeds', async (_, call) => {
    const url = await limited()
    const { answer, waited } = await fared(url, () => call(url))
    expect(answer).toEqual({ ok: true })
    // A second by their clocks; the next would have been refused before 600 ms.
    expect(waited).toBeGreaterThan(900)
    expect(waited).toBeLessThan(4000)
  })

  it('Octokit waits for X-RateLimit-Reset since the epoch, as from GitHub', async () => {
    const url = await limited({ headers: ['structured', 'x-ratelimit'] })
    const asked: number[] = []
    const octokit = new (Octokit.plugin(throttling, retry))({
      baseUrl: url,
      throttle: {
        onRateLimit: (retryAfter: number) => {
          asked.push(retryAfter)
          return true
        },
        onSecondaryRateLimit: () => false,
      },
    })
    const { answer, waited } = await fared(url, () => octokit.request('GET /repos'))
    expect(answer).toMatchObject({ status: 200, data: { ok: true } })
    expect(asked).toHaveLength(1)
    expect(asked[0]).toBeGreaterThanOrEqual(1)
    expect(waited).toBeGreaterThan(600)
  })

  it('Octokit without plugins sees the refusal as an error that says when', async () => {
    const url = await limited()
    const octokit = new Octokit({ baseUrl: url })
    const call = fared(url, () => octokit.request('GET /repos'))
    await expect(call).rejects.toMatchObject({
      status: 429,
      response: { headers: { 'retry-after': '1' } },
    })
  })
})
