// Eight processes whose store comes and goes twenty times within one window.
import { describe, expect, it } from 'vitest'
import { limit } from '../../src/limit/limit.ts'
import { Random } from '../redis/random.ts'
import { Pod } from './pod.ts'
import { Server } from './server.ts'
import { VirtualTime } from './virtual-time.ts'

const PODS = 8
const FLAPS = 20

describe('a store that comes and goes', () => {
  it.each([
    [100, 50],
    [10, 5],
    [1, 1],
  ])('hands out one limit of %i in all, and %i more in each process', async (quota, share) => {
    const world = new VirtualTime()
    const server = new Server(world)
    const random = new Random(quota)
    const one = limit({ quota, window: '10min', algorithm: 'fixed-window' })
    const policy = { name: 'p', rules: [{ name: 'r', by: ['key'], limit: one }] }
    const pods = Array.from(
      { length: PODS },
      (_, i) => new Pod(`pod ${i}`, policy, world, [server], random),
    )
    let fromStore = 0
    const fromPods = new Map<string, number>()
    const ask = async (millis: number, every: number): Promise<void> => {
      for (let passed = 0; passed < millis; passed += every) {
        for (const pod of pods) {
          void pod.check({ key: 'hot' }).then(({ allowed, degraded }) => {
            if (!allowed) return
            if (degraded) fromPods.set(pod.name, (fromPods.get(pod.name) ?? 0) + 1)
            else fromStore += 1
          })
        }
        await world.pass(every)
      }
    }
    for (let flap = 0; flap < FLAPS; flap++) {
      server.crash()
      for (const { network } of pods) network.cut()
      await ask(300, 20)
      server.restart(world.now)
      // Clients connect again within 0.9 s.
      await ask(1800, 60)
    }
    expect(fromStore).toBe(quota)
    expect(Math.max(...fromPods.values())).toBeLessThanOrEqual(share)
    const opened = pods.map(({ events }) => events.filter(({ type }) => type === 'closed').length)
    expect(opened).toEqual(Array.from({ length: PODS }, () => FLAPS))
    for (const pod of pods) pod.close()
  })
})
