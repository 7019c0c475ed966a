// Law: a request is refused if and only if one of its checks is, decided in order on the counts as they are; what is
// charged follows from that. A model of pure functions decides the requests of random walks beside the memory store.
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../test/length.ts'
import type { State } from '../src/algorithms/algorithm.ts'
import { algorithmOf } from '../src/algorithms/table.ts'
import type { Check } from '../src/stores/store.ts'
import type { Millis } from '../src/time/clock.ts'
import { KINDS } from './kinds.ts'
import { Random, SEED } from './redis/random.ts'
import { walkOf, type Request } from './redis/requests.ts'

/** The counts of a walk, one key in each space. */
class Model {
  private readonly states = new Map<string, State>()

  /** Makes a request; returns whether it is allowed. */
  apply({ do: done, checks }: Request, now: Millis): boolean {
    if (done === 'take') return this.take(checks, now)
    for (const { space, limit, cost, takenAt = now } of checks) {
      const state = this.states.get(space)
      if (done === 'reset') this.states.delete(space)
      else if (done === 'refund' && state !== undefined) {
        algorithmOf(limit).take(limit, state, 0, now)
        algorithmOf(limit).refund(limit, state, cost, now, takenAt)
      }
    }
    return true
  }

  private take(checks: readonly Check[], now: Millis): boolean {
    const enforced = checks.filter(({ shadow }) => shadow !== true)
    const tried = new Map<string, State>()
    let isAllowed = true
    for (const { space, limit, cost } of enforced) {
      const state = tried.get(space) ?? this.stateFor(space, limit, now)
      if (!algorithmOf(limit).take(limit, state, cost, now)) isAllowed = false
      tried.set(space, state)
    }
    if (isAllowed) for (const [space, state] of tried) this.states.set(space, state)
    for (const check of checks) {
      if (isAllowed ? check.shadow === true : check.countRefused === true) this.charge(check, now)
    }
    return isAllowed
  }

  /** Charges a check by itself: what fits, or up to full where it counts refusals. */
  private charge({ space, limit, cost, countRefused }: Check, now: Millis): void {
    const state = this.stateFor(space, limit, now)
    const fits = algorithmOf(limit).take(limit, state, cost, now)
    if (cost === 0 || (!fits && countRefused !== true)) return
    if (!fits) algorithmOf(limit).spend(limit, state, cost, now)
    this.states.set(space, state)
  }

  private stateFor(space: string, limit: Check['limit'], now: Millis): State {
    const state = this.states.get(space)
    return state === undefined ? algorithmOf(limit).fresh(limit, now) : { ...state }
  }
}

describe.each(KINDS)('requests on counts of %s', (kind) => {
  it('are refused if and only if one check is, with every refusal said', () => {
    let refusedByTwins = 0
    for (let walk = 0; walk < lengthOf(25, 1000); walk++) {
      const model = new Model()
      let last = 0
      for (const { now, requests } of walkOf(kind, 120, new Random(SEED + walk))) {
        // What a clock that was set back leaves is a law of its own.
        if (now < last) break
        last = now
        for (const request of requests) {
          const isAllowed = model.apply(request, now)
          const { checks, verdicts } = request
          const isSaid = verdicts.some((v, i) => !v.allowed && checks[i]!.shadow !== true)
          if (request.do !== 'take') continue
          expect([walk, now, isSaid]).toEqual([walk, now, !isAllowed])
          if (!isAllowed && hasCountingTwin(checks)) refusedByTwins += 1
        }
      }
    }
    expect(refusedByTwins).toBeGreaterThan(5)
  })
})

function hasCountingTwin(checks: readonly Check[]): boolean {
  return checks.some(
    ({ countRefused, space }, i) =>
      countRefused === true && checks.some((other, j) => i !== j && other.space === space),
  )
}
