// Whatever a client writes into a header field or a path, reading it takes time in proportion to its length.
import { describe, expect, it } from 'vitest'
import { clientAddress } from './client-address.ts'
import { countFieldLines } from './identity.ts'
import { routeMatcher } from './routes.ts'

const trusted = { trustedProxies: ['loopback', '10.0.0.0/8'] }
const match = routeMatcher(['/login', '/a/{b}/{c*}', '/{x}/{y}/{z}'])
const readers: Record<string, (value: string) => unknown> = {
  Forwarded: (value) =>
    clientAddress({ ...trusted, header: 'forwarded' }, () => undefined).of('127.0.0.1', value),
  'X-Forwarded-For': (value) => clientAddress(trusted, () => undefined).of('127.0.0.1', value),
  'a path': match,
  'field names': (value) => countFieldLines([value, '', 'x'.repeat(value.length), ''], value),
}

/** What is repeated, and what stands before and after it. */
const SHAPES: readonly (readonly [before: string, unit: string, after: string])[] = [
  ['', ' ', ''],
  ['for=', ' ', 'x'],
  ['for="', ' ', ''],
  ['', '\t,', ''],
  ['', ',', '10.0.0.1'],
  ['', 'for=10.0.0.1,', ''],
  ['', '10.0.0.1, ', ''],
  ['', '"', ''],
  ['for="', '\\', '"'],
  ['for="', '\\"', '"'],
  ['', 'for=', ''],
  ['', ';=', ''],
  ['', '[', ']'],
  ['', ':', ''],
  ['/', '/', 'login'],
  ['/', './', 'login'],
  ['/login', '.', 'x'],
  ['/login', '.', ''],
  ['/', '../', 'login'],
  ['/', 'a/../', 'login'],
  ['/', '%2f', 'login'],
  ['/', '%25', ''],
  ['/', '%', ''],
  ['/', ';', '/login'],
  ['/', 'a;', '/login'],
  ['/', '\\', 'login'],
  ['http:', '/', 'login'],
  ['', 'a', '://host/login'],
]

/** The CPU time of four reads in microseconds: other processes do not count. */
function costOnce(read: (value: string) => unknown, value: string): number {
  const before = process.cpuUsage()
  for (let i = 0; i < 4; i++) read(value)
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** The least cost of several runs. One that is low enough is as good as the least, and ends them. */
function cost(read: (value: string) => unknown, value: string, enough = 0): number {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < 5 && least >= enough; run++)
    least = Math.min(least, costOnce(read, value))
  return least
}

describe.each(Object.entries(readers))('reading %s', (_, read) => {
  it.each(SHAPES)('%j, %j …, %j takes linear time', (before, unit, after) => {
    const make = (length: number): string =>
      before + unit.repeat(Math.floor(length / unit.length)) + after
    const [short, long] = [make(4096), make(65_536)]
    // Sixteen times the length; a quadratic reader would need 256 times the time. What is cheaper than 96 times the
    // floor needs no comparison.
    const [times, floor] = [96, 2000]
    const ofLong = cost(read, long, times * floor)
    const ofShort = ofLong < times * floor ? floor : Math.max(floor, cost(read, short))
    expect(ofLong).toBeLessThan(times * ofShort)
  })
})
