import { EventEmitter } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import type { NodeRequest } from './node-adapter.ts'
import { shed } from './node.ts'
import type { ShedResponse } from './shed.ts'
import { Random, SEED } from '../../test/redis/random.ts'

/** Milliseconds that a refusal keeps the only thread busy. */
const REFUSAL = 0.1

/** What a request does: it waits for something else than the thread, and then keeps the thread busy. */
interface Route {
  readonly wait: number
  readonly work: number
}

interface Answer {
  readonly route: Route
  readonly priority: string
  readonly at: number
  readonly took: number
  readonly served: boolean
}

/** A server of one thread, turn by turn of its event loop. */
function server() {
  const clock = fakeClock()
  let busy = 0
  let look = (): void => {}
  let lookAt = Infinity
  let events: { at: number; run: () => void }[] = []
  const turnEnd: (() => void)[] = []
  const timers = {
    start: (run: () => void, after: number): void => {
      look = run
      lookAt = clock() + after
    },
    stop: () => {},
    afterTurn: (run: () => void) => void turnEnd.push(run),
  }
  const shedder = shed({ clock, timers, busyTime: () => busy })
  onTestFinished(() => shedder.close())
  const random = new Random(SEED)
  const answers: Answer[] = []
  const later = (at: number, run: () => void): void => void events.push({ at, run })
  const work = (millis: number): void => {
    clock.advance(millis)
    busy += millis
  }

  /** Sends a request at an instant; the server reads it in its next turn. */
  const send = (sent: number, route: Route, priority = 'normal', done?: () => void): void =>
    later(sent, () => {
      const answer = (took: number, served: boolean): void => {
        work(took)
        response.emit('close')
        answers.push({ route, priority, at: clock(), took: clock() - sent, served })
        done?.()
      }
      const end = (): void => answer(REFUSAL, false)
      const response = Object.assign(new EventEmitter(), { writeHead: () => {}, end })
      const headers = { 'x-priority': priority }
      const request: NodeRequest = { url: '/', headers, rawHeaders: [], socket: {} }
      shedder(request, response as unknown as ShedResponse, () =>
        later(clock() + route.wait, () => answer(route.work, true)),
      )
    })

  /** A client that sends one request after the other, some milliseconds apart, until an instant. */
  const client = (from: number, until: number, route: Route, pause = 0, priority?: string): void =>
    send(from, route, priority, () => {
      if (clock() < until) client(clock() + pause + 0.1, until, route, pause, priority)
    })

  /** Requests of many clients, at random, that ask so much of the thread. */
  const crowd = (from: number, until: number, route: Route, demand: number): void => {
    let i = 0
    for (let at = from; at < until; i++) {
      send(at, route, CLASSES[(i * 7) % CLASSES.length])
      at += (route.work / demand) * -Math.log(1 - random.next())
    }
  }

  const run = (until: number): void => {
    while (clock() < until) {
      const due = events.filter(({ at }) => at <= clock()).toSorted((a, b) => a.at - b.at)
      events = events.filter((one) => !due.includes(one))
      for (const one of due) one.run()
      for (const one of turnEnd.splice(0)) one()
      if (clock() >= lookAt) look()
      const next = events.reduce((least, { at }) => Math.min(least, at), lookAt)
      if (next > clock()) clock.set(Math.min(next, until))
    }
  }
  return { client, crowd, run, answers, shedder }
}

const MOST = Array.from({ length: 6 }, () => 'normal')
const CLASSES = ['critical', ...MOST, 'background', 'background', 'background']
const FAST: Route = { wait: 1, work: 0.2 }
const SLOW: Route = { wait: 500, work: 0.2 }
const WORKING: Route = { wait: 0, work: 4 }

const shedOf = (answers: readonly Answer[]): number =>
  answers.filter(({ served }) => !served).length

function figuresOf(answers: readonly Answer[], { wait, work }: Route, seconds: number) {
  const served = answers.filter((one) => one.served)
  const waits = served.map(({ took }) => took).toSorted((a, b) => a - b)
  const critical = answers.filter(({ priority }) => priority === 'critical')
  return {
    goodput: (served.length * work) / (seconds * 1000),
    p99: waits[Math.floor(waits.length * 0.99)]! / (wait + work),
    critical: critical.filter((one) => one.served).length / critical.length,
  }
}

describe('a server whose thread has time to spare', () => {
  it.each(['normal', 'background'])(
    'sheds no %s request of a slow and a fast route',
    (priority) => {
      const { client, run, answers, shedder } = server()
      client(0, 20_000, FAST, 50, priority)
      for (let i = 0; i < 10; i++) client(2000 + i, 20_000, SLOW, 0, priority)
      run(20_000)
      expect(answers.length).toBeGreaterThan(500)
      expect(shedOf(answers)).toBe(0)
      expect(shedder.load()).toMatchObject({ inFlight: 10, busy: expect.closeTo(0, 1) as number })
      expect(shedder.load().pressure).toBeLessThan(0.01)
    },
  )

  it('sheds nothing when many more clients come to a route that waits', () => {
    const { client, run, answers } = server()
    for (let i = 0; i < 150; i++)
      client(i < 20 ? i : 3000, 10_000, { wait: 300, work: 0.2 }, 0, 'background')
    run(10_000)
    expect(answers.length).toBeGreaterThan(3000)
    expect(shedOf(answers)).toBe(0)
  })

  it('sheds nothing when what it waits for becomes ten times as slow', () => {
    const { client, run, answers } = server()
    for (let i = 0; i < 100; i++) client(i, 5000, { wait: 30, work: 0.2 })
    for (let i = 0; i < 100; i++) client(5100, 10_000, { wait: 300, work: 0.2 })
    run(10_000)
    expect(shedOf(answers)).toBe(0)
  })
})

describe('a server of which the thread is asked for four times what it can do', () => {
  it.each([
    [0, 0.92, 10],
    [20, 0.88, 6],
    [100, 0.83, 4.5],
  ])('is stable if its requests also wait for %d ms', (wait, least, stretch) => {
    const { crowd, run, answers } = server()
    const route = { wait, work: 4 }
    crowd(0, 3000, route, 0.5)
    crowd(3000, 15_000, route, 4)
    run(15_000)
    const stable = answers.filter(({ at }) => at >= 5000)
    const { goodput, p99, critical } = figuresOf(stable, route, 10)
    expect(goodput).toBeGreaterThanOrEqual(least)
    expect(p99).toBeLessThanOrEqual(stretch)
    expect(critical).toBeGreaterThanOrEqual(0.999)
  })

  it('goes on with requests that wait for something else beside it', () => {
    const { client, crowd, run, answers } = server()
    for (let i = 0; i < 50; i++) client(i * 10, 15_000, SLOW, 0, 'critical')
    crowd(0, 3000, WORKING, 0.5)
    crowd(3000, 15_000, WORKING, 4)
    run(15_000)
    const stable = answers.filter(({ at }) => at >= 5000)
    const working = stable.filter(({ route }) => route === WORKING)
    const { goodput, critical } = figuresOf(working, WORKING, 10)
    // The others take half a hundredth of the thread.
    expect(goodput).toBeGreaterThanOrEqual(0.89)
    expect(critical).toBeGreaterThanOrEqual(0.999)
    expect(shedOf(stable.filter(({ route }) => route === SLOW))).toBe(0)
  })

  it('sheds nothing any more within a second of the end of its overload', () => {
    const { client, crowd, run, answers } = server()
    crowd(0, 3000, WORKING, 0.5)
    crowd(3000, 8000, WORKING, 4)
    for (let i = 0; i < 10; i++) client(9000, 20_000, SLOW)
    client(9000, 20_000, FAST, 50)
    run(20_000)
    expect(shedOf(answers.filter(({ at }) => at < 8000))).toBeGreaterThan(1000)
    expect(shedOf(answers.filter(({ at }) => at >= 9000))).toBe(0)
  })
})
