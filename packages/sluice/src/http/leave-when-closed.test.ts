import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { createBudget } from '../budgets/create-budget.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { leaveWhenClosed, leaveWhenRead } from './leave-when-closed.ts'

const CONCURRENCY = 50

function slots() {
  const rule = { name: 'at-once', by: [], concurrency: CONCURRENCY, hold: '1day' as const }
  const budget = createBudget({
    policy: { name: 'jobs', rules: [rule] },
    store: memoryStore({ clock: fakeClock() }),
  })
  onTestFinished(() => budget.close())
  /** How many slots are free: entered, counted, and left again. */
  const free = (): number => {
    const entered = Array.from({ length: CONCURRENCY + 1 }, () => budget.enter({}))
    for (const slot of entered) slot.leave()
    return entered.filter(({ allowed }) => allowed).length
  }
  return { budget, free }
}

class FakeResponse extends EventEmitter {
  closed = false
  close(): void {
    this.closed = true
    this.emit('close')
  }
}

describe('a slot', () => {
  it('never leaks, whenever the client goes', () => {
    const { budget, free } = slots()
    const open: FakeResponse[] = []
    let refused = 0
    for (let i = 0; i < lengthOf(20_000, 1_000_000); i++) {
      const response = new FakeResponse()
      // Some clients go before the slot is there, some later, some twice as fast as the server.
      if (i % 3 === 0) response.close()
      const slot = budget.enter({})
      if (slot.allowed) leaveWhenClosed(slot, response)
      else refused++
      if (!response.closed) open.push(response)
      while (open.length > 40 + (i % 100)) open.shift()!.close()
    }
    for (const response of open) response.close()
    expect(refused).toBeGreaterThan(0)
    expect(free()).toBe(CONCURRENCY)
  }, 600_000)

  it('comes free on real connections that are cut at any time', async () => {
    const { budget, free } = slots()
    let left = 0
    const server = createServer((request, response) => {
      const slot = budget.enter({})
      if (!slot.allowed) {
        left++
        response.writeHead(429).end()
        return
      }
      leaveWhenClosed({ leave: () => (slot.leave(), left++) }, response)
      response.write('begin')
      if (request.url !== '/stays') response.end('end')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const cut = async (i: number): Promise<void> => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(`GET ${i % 2 === 0 ? '/stays' : '/ends'} HTTP/1.1\r\nHost: x\r\n\r\n`)
      await once(socket, 'data')
      const closed = once(socket, 'close')
      socket.destroy()
      await closed
    }
    for (let round = 0; round < 10; round++)
      await Promise.all(Array.from({ length: 20 }, (_, i) => cut(i)))
    while (left < 200) await new Promise((resolve) => setImmediate(resolve))
    expect(free()).toBe(CONCURRENCY)
  })

  const bodyOf = (pieces: number, fails = false): ReadableStream<Uint8Array> => {
    let sent = 0
    return new ReadableStream({
      pull(controller) {
        if (sent++ < pieces) controller.enqueue(new Uint8Array(8))
        else if (fails) controller.error(new Error('broken'))
        else controller.close()
      },
    })
  }

  it.each<
    [string, (response: Response) => Promise<unknown>, string | ReadableStream<Uint8Array> | null]
  >([
    ['read to its end', (response) => response.arrayBuffer(), bodyOf(3)],
    ['a string', (response) => response.text(), 'hello'],
    ['cancelled', (response) => response.body!.cancel(), bodyOf(3)],
    ['broken', (response) => response.text().catch(() => {}), bodyOf(1, true)],
    ['empty', async () => {}, null],
  ])('comes free when a body is over: %s', async (_, read, body) => {
    const { budget, free } = slots()
    const response = leaveWhenRead(budget.enter({}), new Response(body, { status: 201 }))
    expect(response.status).toBe(201)
    await read(response)
    expect(free()).toBe(CONCURRENCY)
  })

  it('is held while a body is read', async () => {
    const { budget, free } = slots()
    const response = leaveWhenRead(budget.enter({}), new Response(bodyOf(3)))
    const reader = response.body!.getReader()
    await reader.read()
    expect(free()).toBe(CONCURRENCY - 1)
    while (!(await reader.read()).done);
    expect(free()).toBe(CONCURRENCY)
  })
})
