// Webhooks of the service against real receivers: signed events, and hostile endpoints on which nothing waits.
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../src/config/read-config.ts'
import { running } from './running.ts'

const secret = 'a secret of many words'
const policies = [
  { name: 'api', rules: [{ name: 'r', by: ['user'], limit: '5/h', thresholds: [80, 100] }] },
]

/** A receiver on a free port, ended with the test. */
async function receiver(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server: Server = createServer(answer)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}

describe('webhooks', () => {
  it('receive the thresholds that keys cross, signed', async () => {
    const received: { fields: IncomingMessage['headers']; body: string }[] = []
    let release = (): void => {}
    const both = new Promise<void>((resolve) => (release = resolve))
    const url = await receiver((request, response) => {
      void text(request).then((body) => {
        received.push({ fields: request.headers, body })
        response.end()
        if (received.length === 2) release()
      })
    })
    const { post, metrics } = await running({ policies, webhooks: [{ url, secret }] })
    for (let i = 0; i < 8; i++) await post('/v1/check', { attributes: { user: 'ann' } })
    await both
    for (const { fields, body } of received) {
      const [, time, signature] = /t=(\d+),v1=(\w+)/.exec(String(fields['sluice-signature']))!
      const expected = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
      expect(signature).toBe(expected)
    }
    const events = received.map(({ body }) => JSON.parse(body) as { threshold: number })
    expect(events.map(({ threshold }) => threshold).toSorted((a, b) => a - b)).toEqual([80, 100])
    expect(events[0]).toMatchObject({
      type: 'threshold',
      policy: 'api',
      rule: 'r',
      key: 'ann',
      attributes: { user: 'ann' },
      limit: { quota: 5 },
    })
    expect(await metrics()).toContain('sluice_threshold_events_total 2')
  })

  it.each<[string, (request: IncomingMessage, response: ServerResponse) => void]>([
    ['never answers', () => {}],
    ['answers with 500', (_request, response) => void response.writeHead(500).end()],
    ['closes the connection', (request) => void request.socket.destroy()],
    [
      'sends a body without an end',
      (_request, response) => void response.writeHead(500).write('x'.repeat(100_000)),
    ],
  ])('at an endpoint that %s delay no decision and no end', async (_name, answer) => {
    let isReached = (): void => {}
    const reached = new Promise<void>((resolve) => (isReached = resolve))
    const url = await receiver((request, response) => {
      isReached()
      answer(request, response)
    })
    const { post, stop } = await running({ policies, webhooks: [{ url, secret }] })
    const users = Array.from({ length: 20 }, (_, i) => `user ${i}`)
    for (const user of users) {
      const { body } = await post('/v1/check', { attributes: { user }, cost: 5 })
      expect(body.allowed).toBe(true)
    }
    await reached
    await stop()
  })
})

describe('mistakes in webhooks', () => {
  it.each([
    ['https://example.com', 'webhooks'],
    [[null], 'webhooks[0]'],
    [[{ secret }], 'webhooks[0].url'],
    [[{ url: 'ftp://example.com', secret }], 'webhooks[0].url'],
    [[{ url: 'nowhere', secret }], 'webhooks[0].url'],
    [[{ url: 'https://example.com' }], 'webhooks[0].secret'],
    [[{ url: 'https://example.com', secret: 'tooshort' }], 'webhooks[0].secret'],
    [[{ url: 'https://example.com', secret, timeout: '2min' }], 'webhooks[0].timeout'],
    [[{ url: 'https://example.com', secret, timeout: -1 }], 'webhooks[0].timeout'],
    [[{ url: 'https://example.com', secret, deadline: '8d' }], 'webhooks[0].deadline'],
    [[{ url: 'https://example.com', secret, retries: 3 }], 'webhooks[0].retries'],
  ])('%j is one at %s, without its secret', (webhooks, path) => {
    const { problems } = readConfig(JSON.stringify({ policies, webhooks }), 'x')
    expect(problems.map((problem) => problem.path)).toEqual([path])
    expect(problems[0]!.message).not.toMatch(/tooshort|nowhere/)
  })
})
