import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter, once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { afterTurn, type Timers } from '../time/timers.ts'
import { shed } from './node.ts'
import type { NodeRequest } from './node-adapter.ts'
import type { ShedOptions, ShedResponse } from './shed.ts'

/** A response that a test ends. */
class FakeResponse extends EventEmitter {
  statusCode = 200
  readonly headersSent = false
  readonly closed = false
  readonly fields = new Map<string, string>()
  body = ''
  writeHead(status: number, fields: Readonly<Record<string, string>>): void {
    this.statusCode = status
    for (const [name, value] of Object.entries(fields)) this.fields.set(name, value)
  }
  end(body = ''): void {
    this.body = body
    this.emit('close')
  }
}

/** Milliseconds between two looks at the event loop. */
const LOOK_EVERY = 20

/** A server that sheds, of which the thread is busy all the time, under a clock and a timer that the test moves. */
function server(options: ShedOptions = {}) {
  const clock = fakeClock()
  let look = (): void => {}
  let lookAt = Infinity
  const timers: Timers = {
    start: (run) => {
      look = run
      lookAt = clock() + LOOK_EVERY
    },
    stop: () => {},
    afterTurn: (run) => run(),
  }
  const shedder = shed({ clock, busyTime: clock, timers, ...options })
  onTestFinished(() => shedder.close())
  const send = (headers: Record<string, string> = {}, url = '/'): FakeResponse | undefined => {
    const response = new FakeResponse()
    const request: NodeRequest = { method: 'GET', url, headers, rawHeaders: [], socket: {} }
    let passed = false
    shedder(request, response as unknown as ShedResponse, () => (passed = true))
    return passed ? response : undefined
  }
  /** Lets time pass, with looks at the event loop in time. */
  const pass = (millis: number): void => {
    const end = clock() + millis
    while (lookAt <= end) {
      clock.set(lookAt)
      look()
    }
    clock.set(end)
  }
  /** Answers `count` requests, each alone, within 10 ms. */
  const workAlone = (count: number): void => {
    for (let i = 0; i < count; i++) {
      const response = send()
      pass(10)
      response?.end()
    }
  }
  /** The same, and then so many at once that the server is seen to be full. */
  const work = (count: number): void => {
    workAlone(count)
    const crowd = Array.from({ length: 8 }, () => send())
    pass(120)
    for (const response of crowd) response?.end()
    workAlone(12)
  }
  /** Looks at an event loop that is late by so much. */
  const loop = (late: number): void => {
    clock.set(lookAt + late)
    look()
  }
  return { shedder, send, pass, work, workAlone, loop }
}

describe('shed', () => {
  it('lets everything pass before it knows the server', () => {
    const { send, shedder } = server()
    for (let i = 0; i < 1000; i++) expect(send()).toBeDefined()
    expect(shedder.load()).toMatchObject({ inFlight: 1000, room: Infinity, pressure: 0 })
  })

  it('lets a burst pass on a server that was never seen to be full', () => {
    const { send, workAlone } = server()
    workAlone(50)
    const passed = Array.from({ length: 60 }, () => send()).filter((response) => response)
    expect(passed).toHaveLength(60)
  })

  it('sheds what a server of the measured throughput and latency cannot hold', () => {
    const { send, work, shedder } = server()
    work(50)
    // 0.1 per millisecond, 10 ms each: twice that is 2, and 4 is the least.
    expect(shedder.load().room).toBe(4)
    const passed = Array.from({ length: 20 }, () => send()).filter((response) => response)
    expect(passed).toHaveLength(4)
    expect(shedder.load()).toMatchObject({ inFlight: 4, shed: { normal: 16, critical: 0 } })
  })

  it('does not take the latency of an overload for the new normal', () => {
    const { pass, send, work, shedder } = server()
    work(50)
    for (let round = 0; round < 50; round++) {
      const responses = Array.from({ length: 10 }, () => send())
      pass(200)
      for (const response of responses) response?.end()
    }
    expect(shedder.load().room).toBe(4)
  })

  it('lets everything pass while the thread has time to spare, however slow the answers are', () => {
    let busy = 0
    const { pass, send, work, shedder } = server({ busyTime: () => (busy += 2) })
    work(50)
    const slow = Array.from({ length: 200 }, () => send({ 'x-priority': 'background' }))
    expect(slow.every((response) => response !== undefined)).toBe(true)
    pass(5000)
    for (const response of slow) response?.end()
    expect(send()).toBeDefined()
    expect(shedder.load()).toMatchObject({ busy: expect.closeTo(0.1, 5) as number, pressure: 0 })
  })

  it('counts what waits for something else as room once the thread is full', () => {
    let isBusy = false
    let busy = 0
    const { pass, send, work, shedder } = server({ busyTime: () => (busy += isBusy ? 20 : 2) })
    const slow = Array.from({ length: 100 }, () => send())
    work(50)
    isBusy = true
    pass(500)
    expect(slow.every((response) => response !== undefined)).toBe(true)
    expect(shedder.load().room).toBeGreaterThanOrEqual(160)
    expect(send()).toBeDefined()
  })

  it('does not count a burst that still needs the thread as room', () => {
    let isBusy = false
    let busy = 0
    const { pass, send, workAlone, shedder } = server({ busyTime: () => (busy += isBusy ? 20 : 2) })
    workAlone(50)
    for (let i = 0; i < 500; i++) send()
    isBusy = true
    pass(1000)
    expect(shedder.load().room).toBeLessThanOrEqual(66)
    expect(shedder.load().pressure).toBeGreaterThan(1)
  })

  it('sheds by the delay of the event loop alone where the runtime measures no busy time', () => {
    const { send, work, loop } = server({ busyTime: () => 0 })
    work(50)
    for (let i = 0; i < 100; i++) expect(send()).toBeDefined()
    loop(60)
    expect(send()).toBeUndefined()
  })

  it('sheds the lowest class first, and critical requests last', () => {
    const { send, work } = server()
    work(50)
    const held = [send(), send(), send()]
    expect(held.every((response) => response !== undefined)).toBe(true)
    expect(send({ 'x-priority': 'background' })).toBeUndefined()
    expect(send()).toBeDefined()
    expect(send()).toBeUndefined()
    for (let i = 0; i < 12; i++) expect(send({ 'x-priority': 'critical' })).toBeDefined()
    expect(send({ 'x-priority': 'critical' })).toBeUndefined()
  })

  it('knows how important a request is by a function, its route, or a header field', () => {
    const { send, work } = server({
      priority: ({ headers }) => (headers['x-admin'] === '1' ? 'critical' : undefined),
      routes: { '/checkout': 'critical', '/exports/{id}': 'background' },
      header: 'X-Importance',
    })
    work(50)
    const held = [send(), send(), send()]
    expect(held.every((response) => response !== undefined)).toBe(true)
    // Background requests are shed by now, critical ones are not.
    expect(send({ 'x-importance': 'background' })).toBeUndefined()
    expect(send({}, '/exports/7?full=1')).toBeUndefined()
    expect(send({ 'x-importance': 'critical' }, '//exports/7')).toBeUndefined()
    expect(send()).toBeDefined()
    // Now normal ones are shed too.
    expect(send({ 'x-priority': 'critical' })).toBeUndefined()
    expect(send({ 'x-importance': 'urgent' })).toBeUndefined()
    expect(send({ 'x-importance': 'background' }, '/checkout')).toBeDefined()
    expect(send({ 'x-admin': '1' }, '/exports/7')).toBeDefined()
    expect(send({ 'x-importance': 'critical' })).toBeDefined()
  })

  it('gives clients no say if there is no header field', () => {
    const { send, work } = server({ header: false })
    work(50)
    for (let i = 0; i < 4; i++) send()
    expect(send({ 'x-priority': 'critical' })).toBeUndefined()
  })

  it('sheds while the event loop is late, and stops soon after', () => {
    const { send, loop } = server({ maxDelay: 50 })
    loop(0)
    expect(send()).toBeDefined()
    loop(60)
    expect(send()).toBeUndefined()
    expect(send({ 'x-priority': 'critical' })).toBeDefined()
    for (let i = 0; i < 2; i++) loop(0)
    expect(send()).toBeDefined()
  })

  it('answers 503 with Retry-After and a problem', () => {
    const { shedder, work, send } = server()
    work(50)
    for (let i = 0; i < 4; i++) send()
    const response = new FakeResponse()
    const request: NodeRequest = { url: '/', headers: {}, rawHeaders: [], socket: {} }
    shedder(request, response as unknown as ShedResponse, () => expect.unreachable())
    expect(response.statusCode).toBe(503)
    expect(Number(response.fields.get('Retry-After'))).toBeGreaterThanOrEqual(1)
    expect(JSON.parse(response.body)).toMatchObject({ status: 503 })
    expect(Number(response.fields.get('Content-Length'))).toBe(Buffer.byteLength(response.body))
  })

  it('answers before the body is sent', async () => {
    const { shedder, loop } = server()
    const handler = shedder.inFrontOf(() => expect.unreachable())
    const listening = createServer(handler as RequestListener).listen(0, '127.0.0.1')
    onTestFinished(() => void listening.close())
    onTestFinished(() => listening.closeAllConnections())
    await once(listening, 'listening')
    loop(60)
    const socket = connect((listening.address() as AddressInfo).port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(String(answer)).toMatch(/^HTTP\/1\.1 503 /)
    socket.destroy()
  })

  it('stands in front of any handler, which does not see what is shed', () => {
    const { shedder, work } = server()
    let handled = 0
    const handler = shedder.inFrontOf(() => handled++)
    const request: NodeRequest = { url: '/', headers: {}, rawHeaders: [], socket: {} }
    const responses = Array.from({ length: 6 }, () => new FakeResponse())
    work(50)
    for (const response of responses) handler(request, response as unknown as ShedResponse)
    expect(handled).toBe(4)
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 503, 503])
  })

  it('lets health checks pass, and what the application names', () => {
    const { send, work } = server()
    work(50)
    for (let i = 0; i < 4; i++) send()
    expect(send({}, '/healthz')).toBeDefined()
    expect(send({}, '/health?deep=1')).toBeDefined()
    expect(send({}, '/healthcare')).toBeUndefined()
  })

  it('counts each request once, whether it is answered or its client leaves', () => {
    const { send, shedder } = server()
    const response = send()!
    response.end()
    response.emit('close')
    expect(shedder.load().inFlight).toBe(0)
  })

  it('reports what it sheds', () => {
    const seen: string[] = []
    const { send, work } = server({ onShed: (_, priority) => void seen.push(priority) })
    work(50)
    for (let i = 0; i < 5; i++) send()
    expect(seen).toEqual(['normal'])
  })

  it.each([
    [{ maxDelay: 0 }, /shed: maxDelay is 0/],
    [{ priority: 'high' }, /shed: priority is "high"; accepted: a function/],
    [{ maxdelay: 5 }, /maxDelay/],
    [{ header: '' }, /shed: header is ""; accepted: the name of a header field, or false/],
    [{ routes: { '/a': 'high' } }, /shed: routes\['\/a'\] is "high"; accepted: critical/],
    [{ routes: { 'no slash': 'normal' } }, /no slash/],
  ])('refuses a mistake: %j', (options, message) => {
    expect(() => shed(options as ShedOptions)).toThrow(message)
  })
})

const nextTurn = (): Promise<void> => new Promise((resolve) => afterTurn(resolve))

/** A server that is asked for ten times what it can do, of which the test ends the turns. */
function overloadedServer({ afterTurn }: Partial<Timers> = {}) {
  const clock = fakeClock()
  let queued: (() => void)[] = []
  const endTurn = (): void => {
    const runs = queued
    queued = []
    for (const run of runs) run()
  }
  let look = (): void => {}
  let lookAt = Infinity
  const timers: Timers = {
    start: (run) => {
      look = run
      lookAt = clock() + LOOK_EVERY
    },
    stop: () => {},
    afterTurn: afterTurn ?? ((run) => void queued.push(run)),
  }
  const shedder = shed({ clock, busyTime: clock, timers })
  onTestFinished(() => shedder.close())
  const send = (priority: string, handler: () => void, response = new FakeResponse()): void => {
    const headers = { 'x-priority': priority }
    const request: NodeRequest = { url: '/', headers, rawHeaders: [], socket: {} }
    shedder(request, response as unknown as ShedResponse, handler)
  }
  /** Twenty requests of 10 ms each, then so many at once that the server cannot answer them. */
  const overload = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) {
      const response = new FakeResponse()
      send('normal', () => clock.advance(10), response)
      response.end()
      endTurn()
      if (afterTurn !== undefined) await nextTurn()
    }
    const passed: FakeResponse[] = []
    for (let i = 0; i < 600; i++) {
      const response = new FakeResponse()
      send('background', () => passed.push(response), response)
      clock.advance(1)
      endTurn()
      if (clock() >= lookAt) look()
      if (afterTurn !== undefined) await nextTurn()
    }
    for (const response of passed) response.end()
  }
  return { clock, shedder, send, endTurn, overload }
}

describe('a turn of an overloaded server', () => {
  it('begins with its critical requests', async () => {
    const { send, endTurn, overload } = overloadedServer()
    await overload()
    const order: string[] = []
    send('normal', () => order.push('normal'))
    send('critical', () => order.push('critical'))
    expect(order).toEqual(['critical'])
    endTurn()
    expect(order).toEqual(['critical', 'normal'])
  })

  it('lets another one begin until one has kept the thread busy', async () => {
    const { clock, send, endTurn, overload } = overloadedServer()
    await overload()
    const begun: number[] = []
    for (let i = 0; i < 3; i++) {
      const response = new FakeResponse()
      const handler = (): void => {
        begun.push(i)
        clock.advance(6)
        response.end()
      }
      send('normal', handler, response)
    }
    endTurn()
    expect(begun).toEqual([0])
  })

  it('lets as many begin as there is room for if they wait for something else', async () => {
    const { clock, send, endTurn, overload } = overloadedServer()
    await overload()
    const begun: number[] = []
    for (let i = 0; i < 2; i++)
      send('normal', () => {
        begun.push(i)
        clock.advance(6)
      })
    endTurn()
    expect(begun).toEqual([0, 1])
  })

  it('goes on after a handler that throws', async () => {
    const { shedder, send, endTurn, overload } = overloadedServer()
    await overload()
    send('normal', () => {
      throw new Error('of the handler')
    })
    expect(endTurn).toThrow('of the handler')
    const before = shedder.load().inFlight
    send('normal', () => {})
    endTurn()
    expect(shedder.load().inFlight).toBe(before + 1)
  })

  it.each([
    ['HTTP/1', { closed: true }],
    ['HTTP/2', { closed: undefined }],
  ])('does not count a request of %s whose client has left meanwhile', async (_, left) => {
    const { shedder, send, endTurn, overload } = overloadedServer()
    await overload()
    const response = new FakeResponse()
    send('normal', () => expect.unreachable(), response)
    Object.assign(response, left)
    response.emit('close')
    endTurn()
    expect(shedder.load().inFlight).toBe(0)
  })

  it('handles each request in its own async context', async () => {
    const { send, overload } = overloadedServer({ afterTurn })
    await overload()
    const context = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    for (const name of ['a', 'b'])
      context.run(name, () => send('normal', () => seen.push(context.getStore())))
    await nextTurn()
    await nextTurn()
    expect(seen).toEqual(['a', 'b'])
  })
})
