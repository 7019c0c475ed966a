import { EventEmitter } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import type { NodeRequest } from './node-adapter.ts'
import { shed } from './node.ts'
import type { ShedResponse } from './shed.ts'
import { Random, SEED } from '../../test/redis/random.ts'

/** Milliseconds that the handler, and a refusal, keep the only thread busy. */
const WORK = 4
const REFUSAL = 0.1
const SHARES = ['critical', ...Array.from({ length: 6 }, () => 'normal')]
const CLASSES = [...SHARES, 'background', 'background', 'background']

interface Answer {
  readonly priority: string
  readonly at: number
  readonly took: number
  readonly served: boolean
}

interface World {
  readonly isShedding?: boolean
  /** Milliseconds for which another process has the core, about once a second. */
  readonly stall?: number
  readonly classes?: readonly string[]
}

/** A server of one thread under a load of so many times its capacity, turn by turn of its event loop. */
function overloaded(
  factor: number,
  seconds: number,
  { isShedding = true, stall = 0, classes = CLASSES }: World = {},
): readonly Answer[] {
  const clock = fakeClock()
  let look = (): void => {}
  const turnEnd: (() => void)[] = []
  const timers = {
    start: (run: () => void) => (look = run),
    stop: () => (look = () => {}),
    afterTurn: (run: () => void) => void turnEnd.push(run),
  }
  let busy = 0
  const shedder = shed({ clock, timers, busyTime: () => busy })
  onTestFinished(() => shedder.close())
  const random = new Random(SEED)
  const answers: Answer[] = []
  const waiting: { priority: string; sent: number }[] = []
  let sent = 0
  let next = 0
  let lookAt = 20
  let stallAt = stall === 0 ? Infinity : 3500
  const work = (millis: number): void => {
    clock.advance(millis)
    busy += millis
  }
  const handle = ({ priority, sent }: (typeof waiting)[number]): void => {
    if (clock() >= stallAt) {
      work(stall)
      stallAt = clock() + 500 + 1000 * random.next()
    }
    const answered = (took: number, served: boolean): void => {
      work(took)
      response.emit('close')
      answers.push({ priority, at: clock(), took: clock() - sent, served })
    }
    const end = (): void => answered(REFUSAL, false)
    const response = Object.assign(new EventEmitter(), { writeHead: () => {}, end })
    const headers = { 'x-priority': priority }
    const request: NodeRequest = { url: '/', headers, rawHeaders: [], socket: {} }
    const serve = (): void => answered(WORK, true)
    if (isShedding) shedder(request, response as unknown as ShedResponse, serve)
    else serve()
  }
  while (clock() < seconds * 1000) {
    // The first three seconds the server has half of what it can do, and comes to know itself.
    for (; next <= clock(); sent++) {
      waiting.push({ priority: classes[(sent * 7) % classes.length]!, sent: next })
      // At random, as requests of many clients come.
      const wait = WORK * -Math.log(1 - random.next())
      next += wait / (next < 3000 ? 0.5 : factor)
    }
    for (const one of waiting.splice(0)) handle(one)
    for (const run of turnEnd.splice(0)) run()
    if (clock() >= lookAt) {
      look()
      lookAt = clock() + 20
    }
    if (next > clock()) clock.set(next)
  }
  // Two seconds after the step it must be stable.
  return answers.filter(({ at }) => at >= 5000)
}

function figuresOf(answers: readonly Answer[], seconds: number) {
  const served = answers.filter((one) => one.served)
  const waits = served.map(({ took }) => took).toSorted((a, b) => a - b)
  const critical = answers.filter(({ priority }) => priority === 'critical')
  return {
    goodput: served.length / (seconds - 5) / (1000 / WORK),
    p99: waits[Math.floor(waits.length * 0.99)]! / WORK,
    critical: critical.filter((one) => one.served).length / critical.length,
  }
}

describe('a server of one thread', () => {
  it.each([
    [1.5, 0.84],
    [2, 0.89],
    [4, 0.9],
  ])(
    'under %d times its load serves %d of what it can, within two and a half times',
    (factor, least) => {
      const { goodput, p99, critical } = figuresOf(overloaded(factor, 20), 20)
      expect(goodput).toBeGreaterThanOrEqual(least)
      expect(p99).toBeLessThanOrEqual(2.5)
      expect(critical).toBeGreaterThanOrEqual(0.999)
    },
  )

  it('sheds next to nothing below its capacity', () => {
    const answers = overloaded(0.8, 20)
    expect(answers.filter(({ served }) => !served).length / answers.length).toBeLessThan(0.01)
  })

  it.each([20, 60, 200])('serves critical requests although it stood still for %d ms', (stall) => {
    const { goodput, critical } = figuresOf(overloaded(4, 20, { stall }), 20)
    expect(critical).toBeGreaterThanOrEqual(0.999)
    expect(goodput).toBeGreaterThan(0.9 * (1 - stall / 1000) - 0.1)
  })

  it('sheds critical requests too when they alone are too many', () => {
    const answers = overloaded(4, 20, { classes: ['critical'] })
    const { goodput, p99 } = figuresOf(answers, 20)
    expect(answers.filter(({ served }) => !served).length / answers.length).toBeGreaterThan(0.5)
    expect(goodput).toBeGreaterThanOrEqual(0.9)
    // Their cut-off is four times as high.
    expect(p99).toBeLessThanOrEqual(12)
  })

  it('would let everybody wait without it', () => {
    expect(figuresOf(overloaded(4, 12, { isShedding: false }), 12).p99).toBeGreaterThan(100)
  })
})
