// The first calls of a process whose connection takes longer than a deadline, on simulated time.
import { describe, expect, it, onTestFinished } from 'vitest'
import { limit } from '../../src/limit/limit.ts'
import type { Policy } from '../../src/policy/policy.ts'
import { Random } from '../redis/random.ts'
import { Pod, TIMEOUT } from './pod.ts'
import { Server } from './server.ts'
import { VirtualTime } from './virtual-time.ts'

const QUOTA = 3
const policy: Policy = {
  name: 'p',
  rules: [{ name: 'keys', by: ['key'], limit: limit({ quota: QUOTA, window: '1d' }) }],
}

/** A process that has just been started, and what becomes of its first checks. */
function starting(prepare: (pod: Pod, server: Server) => void = () => {}) {
  const world = new VirtualTime()
  const server = new Server(world, false)
  const pod = new Pod('pod', policy, world, [server], new Random(1))
  prepare(pod, server)
  const began = world.now
  const answers: string[] = []
  const ask = (): void =>
    void pod.check({ key: 'hot' }).then(({ allowed, degraded }) => {
      answers.push(`${world.now - began} ${degraded ? 'fallback' : 'store'} ${allowed}`)
    })
  onTestFinished(() => pod.close())
  return { world, server, pod, answers, ask }
}

describe('a process whose first connection is slow', () => {
  it('waits for its deadline, and then the fallback answers', async () => {
    const { world, pod, answers, ask } = starting()
    pod.network.weather.isDark = true
    ask()
    await world.pass(2 * TIMEOUT)
    expect(answers).toEqual([`${TIMEOUT} fallback true`])
  })

  it('waits for its deadline if the server refuses the connection', async () => {
    const { world, answers, ask } = starting((_, server) => server.crash())
    ask()
    await world.pass(2 * TIMEOUT)
    expect(answers).toEqual([`${TIMEOUT} fallback true`])
  })

  it('is decided by the store if it was the process that stood still, beyond the deadline', async () => {
    const { world, pod, answers, ask } = starting()
    pod.network.weather.delay = TIMEOUT / 10
    for (let i = 0; i < 5; i++) ask()
    await world.pass(TIMEOUT / 10)
    for (let i = 0; i < 2; i++) {
      pod.stop()
      await world.pass(4 * TIMEOUT)
      pod.goOn()
      await world.pass(TIMEOUT / 10)
    }
    await world.pass(TIMEOUT)
    expect(answers.map((answer) => answer.split(' ').slice(1).join(' '))).toEqual([
      ...Array.from({ length: QUOTA }, () => 'store true'),
      'store false',
      'store false',
    ])
  })

  it('is decided by the store wherever in its first calls it stood still for most of the deadline', async () => {
    for (let instant = 0; instant < TIMEOUT / 2; instant += 2) {
      const { world, pod, answers, ask } = starting()
      pod.network.weather.delay = TIMEOUT / 25
      ask()
      await world.pass(instant)
      pod.stop()
      await world.pass(0.7 * TIMEOUT)
      pod.goOn()
      await world.pass(TIMEOUT)
      expect([instant, ...answers]).toEqual([instant, expect.stringContaining('store true')])
    }
  })

  it('waits for its deadline beside the times in which it stood still', async () => {
    const { world, pod, answers, ask } = starting()
    pod.network.weather.isDark = true
    ask()
    await world.pass(TIMEOUT / 2)
    pod.stop()
    await world.pass(4 * TIMEOUT)
    pod.goOn()
    await world.pass(TIMEOUT / 4)
    expect(answers).toEqual([])
    await world.pass(TIMEOUT / 2)
    expect(answers).toEqual([expect.stringContaining('fallback true')])
  })

  it('waits for its deadline after its first answer, also when it stood still', async () => {
    const { world, pod, answers, ask } = starting()
    ask()
    await world.pass(TIMEOUT / 2)
    expect(answers).toEqual([expect.stringContaining('store true')])
    pod.network.weather.isDark = true
    answers.length = 0
    ask()
    pod.stop()
    await world.pass(4 * TIMEOUT)
    pod.goOn()
    await world.pass(1)
    expect(answers).toEqual([expect.stringContaining('fallback')])
  })
})
