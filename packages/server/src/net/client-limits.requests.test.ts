import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { limitRequests, OpenRequests } from './client-limits.ts'

const MAX = 3

/** A port that answers no request before it is told to. */
async function holding() {
  const held: ServerResponse[] = []
  let refused = 0
  const handle = limitRequests((_: IncomingMessage, response) => void held.push(response), {
    max: MAX,
    fields: { 'Sluice-Status': 503 },
    onRefused: () => (refused += 1),
  })
  const server = createServer(handle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const send = (localAddress = '127.0.0.1') => {
    const sent = request({ host: '127.0.0.1', port, localAddress, agent: false })
    sent.end()
    return once(sent, 'response').then(([answer]) => {
      ;(answer as IncomingMessage).resume()
      return answer as IncomingMessage
    })
  }
  return { send, held, refused: () => refused }
}

it('refuses requests of an address that has too many unanswered ones, and of no other', async () => {
  const { send, held, refused } = await holding()
  const answers = Array.from({ length: MAX }, () => send())
  await expect.poll(() => held.length).toBe(MAX)

  const beyond = await send()
  expect([
    beyond.statusCode,
    beyond.headers['retry-after'],
    beyond.headers['sluice-status'],
  ]).toEqual([503, '1', '503'])
  expect(refused()).toBe(1)

  const other = send('127.0.0.2')
  await expect.poll(() => held.length).toBe(MAX + 1)
  held[0]!.end()
  await answers[0]
  const next = send()
  await expect.poll(() => held.length).toBe(MAX + 2)
  for (const response of held) response.end()
  const statuses = (await Promise.all([...answers, other, next])).map((one) => one.statusCode)
  expect(statuses).toEqual(Array(MAX + 2).fill(200))
})

it('forgets an address without requests', () => {
  const open = new OpenRequests(1)
  expect([open.enter('a'), open.enter('a'), open.enter('b')]).toEqual([true, false, true])
  open.leave('a')
  open.leave('b')
  expect(open.enter('a')).toBe(true)
})
