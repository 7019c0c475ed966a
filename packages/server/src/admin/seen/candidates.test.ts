// The move from a fixed to a sliding window, tried first: what `sluice shadow` says of it before anybody is refused.
import { createLimiter, memoryStore, parsePolicy } from 'sluice'
import { fakeClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { createLog } from '../../log/log.ts'
import { Fleet } from '../../observe/fleet.ts'
import { Observer } from '../../observe/observer.ts'
import { candidates } from './candidates.ts'

const START = 1_800_000_000_000
const window = { quota: 10, window: '1min' } as const
const policy = parsePolicy({
  name: 'api',
  rules: [
    {
      name: 'per-user',
      by: ['user'],
      limit: { ...window, algorithm: 'fixed-window' },
      candidate: { ...window, algorithm: 'sliding-window' },
    },
  ],
})

/** Ten minutes of polite customers, with or without one that retries every 50 ms until it is let through. */
async function tried(hasLoop: boolean) {
  const clock = fakeClock(START)
  const observer = new Observer(clock)
  const { note } = observer.of(policy)
  const limiter = createLimiter({
    policy,
    store: memoryStore({ clock }),
    onDecision: (decision, request) => note(decision, request, undefined, 1),
  })
  const allowed = { polite: 0, loop: 0 }
  for (let step = 0; step < 12_000; step++) {
    // Each of 40 customers asks eight times a minute, evenly.
    const customer = step % 150
    if (customer < 40 && limiter.check({ user: `customer-${customer}` }).allowed)
      allowed.polite += 1
    if (hasLoop && limiter.check({ user: 'loop' }).allowed) allowed.loop += 1
    clock.advance(50)
    if (step % 5 === 0) observer.tick()
  }
  const fleet = new Fleet(observer, undefined, createLog('silent'))
  const answer = (await candidates(fleet, [policy], 10)) as {
    readonly candidates: readonly {
      readonly sentence: string
      readonly newlyRefused: number
      readonly keys: number
      readonly aboveLine: boolean
      readonly top: readonly { readonly attributes: object; readonly count: number }[]
    }[]
  }
  return { allowed, trial: answer.candidates[0]! }
}

describe('the move from a fixed to a sliding window', () => {
  it('refuses no customer that stays within the limit', async () => {
    const { trial, allowed } = await tried(false)
    expect(allowed.polite).toBe(40 * 80)
    expect(trial).toMatchObject({ newlyRefused: 0, keys: 0, aboveLine: false })
    expect(trial.sentence).toContain('0 keys newly refused; 0 newly allowed. This is below')
  })

  it('hits the client that retries in a tight loop, and names it', async () => {
    const { trial, allowed } = await tried(true)
    // A fixed window lets the loop burst at each edge: ten at once, then fifty seconds of refusals.
    expect(allowed.loop).toBe(100)
    expect(trial.keys).toBe(1)
    expect(trial.top).toMatchObject([{ attributes: { user: 'loop' }, count: trial.newlyRefused }])
    expect(trial.newlyRefused).toBeGreaterThan(50)
    expect(trial.sentence).toMatch(
      /^api\/per-user: fixed window 10\/min → sliding window 10\/min\. Flip now: .* and 1 key newly refused, worst: user=loop; \d+ newly allowed\. This is below the 2 % line\.$/,
    )
  })
})
