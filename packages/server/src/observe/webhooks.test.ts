import { createHmac } from 'node:crypto'
import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createLog } from '../log/log.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { Webhooks, type WebhookTools } from './webhooks.ts'

const SECRET = 'a secret of many words'
const HOOK = { url: 'https://hooks.example.com/x?token=1', secret: SECRET, timeout: 5000 }

interface Sent {
  readonly at: number
  readonly request: RequestInit
}

/** Webhooks on a clock that tests move; `answer` is what the endpoint does. */
function sending(answer: (attempt: number) => Promise<Response>, deadline = 3_600_000) {
  let now = 1_800_000_000_000
  const timers = new Set<{ at: number; call: () => void }>()
  const sent: Sent[] = []
  const tools: WebhookTools = {
    now: () => now,
    random: () => 0,
    later(millis, call) {
      const timer = { at: now + millis, call }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    fetch(_url, request) {
      sent.push({ at: now, request })
      const { signal } = request
      return new Promise((resolve, reject) => {
        signal!.addEventListener('abort', () => reject(signal!.reason as Error))
        answer(sent.length).then(resolve, reject)
      })
    },
  }
  const metrics = new MetricRegistry()
  let logged = ''
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk)
      done()
    },
  })
  const webhooks = new Webhooks([{ ...HOOK, deadline }], metrics, createLog('info', sink), tools)
  const settled = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) await Promise.resolve()
  }
  /** Lets time pass, timer by timer. */
  const advance = async (millis: number): Promise<void> => {
    const end = now + millis
    await settled()
    for (;;) {
      const next = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      timers.delete(next)
      now = next.at
      next.call()
      await settled()
    }
    now = end
  }
  const count = (result: string): number =>
    Number(new RegExp(`deliveries_total\\{result="${result}"\\} (\\d+)`).exec(metrics.text())?.[1])
  return { webhooks, sent, advance, count, timers, logged: () => logged }
}

const status = (code: number): Promise<Response> =>
  Promise.resolve(new Response(null, { status: code }))
const never = new Promise<Response>(() => {})

describe('a webhook', () => {
  it('receives events signed by its secret', async () => {
    const { webhooks, sent, advance, count } = sending(() => status(204))
    webhooks.send('threshold', { rule: 'r', threshold: 80 })
    await advance(0)
    const { headers, method } = sent[0]!.request
    const body = sent[0]!.request.body as string
    const fields = headers as Record<string, string>
    const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(fields['sluice-signature']!)!
    const expected = createHmac('sha256', SECRET).update(`${time}.${body}`)
    expect(signature).toBe(expected.digest('hex'))
    expect(time).toBe('1800000000')
    expect(method).toBe('POST')
    expect(JSON.parse(body)).toEqual({
      id: fields['sluice-delivery'],
      type: 'threshold',
      rule: 'r',
      threshold: 80,
    })
    expect(count('delivered')).toBe(1)
  })

  it('that answers with 500 is tried again, ever later, until it takes the event', async () => {
    const { webhooks, sent, advance, count } = sending((n) => status(n < 4 ? 500 : 200))
    webhooks.send('threshold', {})
    await advance(60_000)
    const waits = sent.slice(1).map(({ at }, i) => at - sent[i]!.at)
    expect(waits).toEqual([500, 1000, 2000])
    expect(count('delivered')).toBe(1)
    const ids = sent.map(
      ({ request }) => (request.headers as Record<string, string>)['sluice-delivery'],
    )
    expect(new Set(ids).size).toBe(1)
  })

  it('is given up at the deadline, with one warning that hides its address', async () => {
    const { webhooks, advance, count, logged, timers } = sending(() => status(503), 60_000)
    for (let i = 0; i < 3; i++) webhooks.send('threshold', {})
    await advance(120_000)
    expect([count('failed'), count('delivered')]).toEqual([3, 0])
    expect(logged().match(/webhook-failed/g)).toHaveLength(1)
    expect(logged()).not.toMatch(/token=1|a secret/)
    expect(timers.size).toBe(0)
  })

  it.each([301, 400, 401, 404, 410])('that answers with %i is not tried again', async (code) => {
    const { webhooks, sent, advance, count } = sending(() => status(code))
    webhooks.send('threshold', {})
    await advance(60_000)
    expect([sent.length, count('failed')]).toEqual([1, 1])
  })

  it('that hangs is cut off after the timeout, four at once, and the queue is bounded', async () => {
    const { webhooks, sent, advance, count } = sending(() => never, 10_000)
    for (let i = 0; i < 1500; i++) webhooks.send('threshold', { i })
    await advance(4999)
    expect([sent.length, count('dropped')]).toEqual([4, 500])
    await advance(1)
    expect(sent.length).toBe(8)
    await advance(3_600_000)
    expect(count('failed')).toBe(1000)
  })

  it('that cannot be reached is tried again', async () => {
    const { webhooks, advance, count } = sending((n) =>
      n === 1 ? Promise.reject(new Error('ECONNREFUSED')) : status(200),
    )
    webhooks.send('threshold', {})
    await advance(1000)
    expect(count('delivered')).toBe(1)
  })

  it('is left alone after the end', async () => {
    const { webhooks, sent, advance, timers } = sending(() => status(500))
    webhooks.send('threshold', {})
    await advance(100)
    webhooks.close()
    await advance(60_000)
    expect([sent.length, timers.size]).toEqual([1, 0])
  })
})
