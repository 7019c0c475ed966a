// What a change of policy does to the clients of a log: who is newly refused, who is freed.
import type { Replay } from '../replay/replay.ts'

/** A client with another number of refusals after the change. */
export interface AffectedClient {
  readonly client: string
  readonly requests: number
  /** Refused requests with the old policy, and with the new one. */
  readonly before: number
  readonly after: number
}

/** What a log says about two policies. */
export interface Effect {
  readonly requests: number
  readonly clients: number
  /** Refused requests with the old policy, and with the new one. */
  readonly before: number
  readonly after: number
  /** Clients that only the new policy refuses, and those that only the old one refused. */
  readonly newlyRefused: number
  readonly freed: number
  /** Those with the largest change first. */
  readonly worse: readonly AffectedClient[]
  readonly better: readonly AffectedClient[]
}

/** Compares the first candidate of a replay, the old policy, with the second. */
export function effectOf<T>(replay: Replay<T>, nameOf: (key: string) => string, most = 10): Effect {
  const [before, after] = replay.candidates
  if (before === undefined || after === undefined)
    throw new Error('effectOf needs a replay with two candidates')
  const touched: AffectedClient[] = []
  let [newlyRefused, freed] = [0, 0]
  for (let client = 0; client < replay.clients.size; client++) {
    const [old, now] = [before.refusedOf(client), after.refusedOf(client)]
    if (old === now) continue
    if (old === 0) newlyRefused++
    if (now === 0) freed++
    touched.push({
      client: nameOf(replay.clients.key(client)),
      requests: replay.requestsOf(client),
      before: old,
      after: now,
    })
  }
  const changeOf = (one: AffectedClient): number => one.after - one.before
  const sorted = touched.toSorted((a, b) => changeOf(b) - changeOf(a))
  return {
    requests: replay.requests,
    clients: replay.clients.size,
    before: before.refused,
    after: after.refused,
    newlyRefused,
    freed,
    worse: sorted.filter((one) => changeOf(one) > 0).slice(0, most),
    better: sorted
      .filter((one) => changeOf(one) < 0)
      .toReversed()
      .slice(0, most),
  }
}
