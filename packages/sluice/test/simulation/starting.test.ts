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
  it('waits for the first answer beyond its deadline, so that the store decides', async () => {
    const { world, pod, answers, ask } = starting()
    pod.network.weather.delay = 2 * TIMEOUT
    for (let i = 0; i < 5; i++) ask()
    await world.pass(4 * TIMEOUT + 2)
    expect(answers).toEqual([])
    pod.network.weather.delay = 0
    await world.pass(5 * TIMEOUT)
    expect(answers.map((answer) => answer.split(' ').slice(1).join(' '))).toEqual([
      ...Array.from({ length: QUOTA }, () => 'store true'),
      'store false',
      'store false',
    ])
    // Afterwards the deadline is what it is.
    answers.length = 0
    pod.network.weather.delay = 2 * TIMEOUT
    ask()
    await world.pass(2 * TIMEOUT)
    expect(answers).toEqual([expect.stringContaining(`fallback`)])
  })

  it('waits for a second at most', async () => {
    const { world, pod, answers, ask } = starting()
    pod.network.weather.isDark = true
    ask()
    await world.pass(500)
    expect(answers).toEqual([])
    await world.pass(500 + TIMEOUT)
    expect(answers).toHaveLength(1)
    expect(answers[0]).toContain('fallback true')
  })

  it('waits for its deadline if the server refuses the connection', async () => {
    const { world, answers, ask } = starting((_, server) => server.crash())
    ask()
    await world.pass(2 * TIMEOUT)
    expect(answers).toEqual([`${TIMEOUT} fallback true`])
  })
})
