// The memory of what is known of one rule, whatever its keys are.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { limit } from 'sluice'
import { describe, expect, it } from 'vitest'
import { RuleWatch } from './rule-watch.ts'

/** So many that what else the process does meanwhile is a small part of each. */
const WATCHES = 24

/** Bytes that are in use after garbage collection. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Everything at once: more keys than places, all refused, filled by six kinds of requests, and newly refused by a trial. */
function fillUp(watch: RuleWatch, by: readonly string[], value: (i: number) => string): void {
  for (const now of [0, 60_000]) {
    for (let i = 0; i < 110; i++) {
      const attributes = Object.fromEntries(by.map((name) => [name, value(i + now)]))
      const key = by.map((name) => attributes[name]).join(' ')
      const check = { key, cost: 1, limit: limit({ quota: 10, window: 60_000 }) }
      const numbers = { availableAfter: 1e9 }
      for (let kind = 0; kind < 6; kind++) {
        const route = `/route-${kind}-${value(i)}`
        const asked = { ...attributes, route, method: 'POST', tenant: value(kind) }
        const outcome = { ...numbers, allowed: true, remaining: 1 }
        watch.note({ check, outcome, isCharged: true, attributes: asked }, 1, now)
      }
      const outcome = { ...numbers, allowed: false, remaining: 0 }
      const refused = { check, outcome, isCharged: false, attributes }
      watch.note(refused, 1, now)
      watch.noteTrial(refused, true, false, now)
      watch.see(key, { at: now } as never)
    }
    watch.turn(now + 60_000)
  }
}

describe('what is known of one rule', () => {
  it.each([
    ['short keys', ['user'], (i: number) => `user-${i}`],
    ['keys of 128 characters', ['user'], (i: number) => String(i).padEnd(128, 'x')],
    ['keys of two bytes a character', ['user'], (i: number) => String(i).padEnd(128, '中')],
    ['keys of a thousand characters', ['user'], (i: number) => String(i).padEnd(1000, 'x')],
    ['four long attributes', ['a', 'b', 'c', 'd'], (i: number) => String(i).padEnd(128, '中')],
  ])('takes at most 256 kB: %s', (_, by, value) => {
    const watches = Array.from({ length: WATCHES }, () => new RuleWatch('api', 'rule', by, 0))
    // What is compiled and cached on the way is not the rule's.
    fillUp(new RuleWatch('api', 'other', by, 0), by, value)
    const before = bytesInUse()
    for (const watch of watches) fillUp(watch, by, value)
    const each = (bytesInUse() - before) / WATCHES
    expect(watches.map((watch) => watch.part(120_000).refused.entries.length)).toEqual(
      watches.map(() => 50),
    )
    expect(each).toBeLessThan(256 * 1024)
  })
})
