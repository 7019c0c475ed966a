// Clients that people use obey our refusals: they wait as long as they are told, then they succeed.
import { Octokit } from '@octokit/core'
import { retry } from '@octokit/plugin-retry'
import { throttling } from '@octokit/plugin-throttling'
import got from 'got'
import ky from 'ky'
import { Agent, interceptors, request } from 'undici'
import { describe, expect, it } from 'vitest'
import type { AnyLimiter, HttpOptions } from '../../src/http/index.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { Attributes } from '../../src/policy/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { serving } from './serving.ts'

const NOW = 1_800_000_000_000

/**
 * One request in 600 ms: a refusal says to wait a second. Time passes from the first refusal on, so that a busy
 * machine does not make it pass before.
 */
async function limited(options: HttpOptions<never> = {}): Promise<string> {
  let refusedAt: number | null = null
  const clock = (): number =>
    refusedAt === null ? NOW : NOW + Math.floor(performance.now() - refusedAt)
  const inner = createLimiter({ limit: { quota: 1, window: 600 }, store: memoryStore({ clock }) })
  const check = (attributes: Attributes | string, cost?: number) => {
    const decision = inner.check(attributes, cost)
    if (!decision.allowed) refusedAt ??= performance.now()
    return decision
  }
  const limiter: AnyLimiter = { check, refund: inner.refund.bind(inner) }
  const problem = (details: object) => ({ ...details, message: 'Too many requests' })
  return serving(limiter, { problem, ...options } as never, (_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"ok":true}')
  })
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
    // A second by their clocks.
    expect(waited).toBeGreaterThan(900)
  })

  it('Octokit waits for X-RateLimit-Reset since the epoch, as from GitHub', async () => {
    const url = await limited({ headers: ['structured', 'x-ratelimit-epoch'] })
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
