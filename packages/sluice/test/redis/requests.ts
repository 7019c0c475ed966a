// Random requests on a few counts that meet again and again, made concrete by what the memory store answers.
import { algorithmOf } from '../../src/algorithms/table.ts'
import { limit, type Limit } from '../../src/limit/limit.ts'
import type { Verdict } from '../../src/limit/verdict.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Check } from '../../src/stores/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import type { Millis } from '../../src/time/clock.ts'
import { kindFields, KINDS, type Kind } from '../kinds.ts'
import type { Random } from './random.ts'

/** One request, and what the memory store answered. */
export interface Request {
  readonly do: 'take' | 'peek' | 'refund' | 'reset'
  readonly checks: readonly Check[]
  /** Empty for refund and reset. */
  readonly verdicts: readonly Verdict[]
}

/** Requests at one instant. */
export interface Turn {
  readonly now: Millis
  readonly requests: readonly Request[]
}

/** A count: a window that stays, and limits that come and go. */
interface Count {
  readonly space: string
  readonly limits: readonly Limit[]
  /** Instants at which something was taken, for give. */
  readonly taken: Millis[]
  last: Verdict | undefined
}

const DAY = 86_400_000
const LARGEST_PRODUCT = 2 ** 52
const LATEST = 2 ** 51

/**
 * A walk of about `steps` requests, mostly on counts of one algorithm. The memory store answers all of them in
 * one go, so that none of its timers can come in between.
 */
export function walkOf(kind: Kind, steps: number, random: Random): readonly Turn[] {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const counts = [kind, kind, kind, random.pick(KINDS), random.pick(KINDS)]
    // One key in each space: the store forgets expired keys of a space whenever it adds one to it.
    .map((name, i): Count => countOf(name, `${i} ${name}`, random))
  const turns: Turn[] = []
  let now = random.chance(0.2) ? random.whole(0, 5000) : 1_800_000_000_000 + random.whole(0, DAY)
  for (let done = 0; done < steps;) {
    now = Math.min(LATEST, Math.max(0, now + movedBy(random.pick(counts), now, random)))
    clock.set(now)
    const requests: Omit<Request, 'verdicts'>[] = []
    for (let left = sizeOfTurn(random); left > 0; left--) requests.push(requestOn(counts, random))
    const answered = requests.map((request) => answeredBy(store, request))
    for (const request of answered) remember(counts, request)
    turns.push({ now, requests: answered })
    done += answered.length
  }
  store.close()
  return turns
}

function sizeOfTurn(random: Random): number {
  return random.chance(0.4) ? 1 : random.whole(2, 24)
}

function countOf(kind: Kind, space: string, random: Random): Count {
  const fields = random.pick(kindFields(kind))
  const drawn = random.chance(0.3)
    ? random.whole(1, 60)
    : random.chance(0.6)
      ? random.pick([1000, 60_000, 3_600_000, DAY, 400 * DAY])
      : random.whole(1, 400 * DAY)
  const { window } = limit({
    quota: 1,
    ...(fields.calendar === undefined && { window: drawn }),
    ...fields,
  })
  const most = Math.floor(LARGEST_PRODUCT / window)
  const { hasBurst, maxQuota } = algorithmOf(fields)
  const largest = Math.min(most, maxQuota)
  const amount = (): number => {
    const drawn = random.chance(0.7)
      ? random.whole(1, 12)
      : random.chance(0.8)
        ? random.whole(1, 1000)
        : random.whole(1, LARGEST_PRODUCT)
    return Math.min(drawn, largest)
  }
  const drawLimit = (): Limit => {
    const quota = amount()
    const burst = hasBurst && random.chance(0.6) ? amount() : quota
    return limit({ ...fields, window, quota, burst })
  }
  // A limit that changes on the way, or one that never allows anything.
  const limits = random.chance(0.03)
    ? [limit({ ...fields, window, quota: 0 })]
    : Array.from({ length: random.whole(1, 3) }, drawLimit)
  return { space, limits, taken: [], last: undefined }
}

function movedBy({ limits, last }: Count, now: Millis, random: Random): Millis {
  const { window } = limits[0]!
  const off = random.whole(-1, 1)
  const draw = random.whole(0, 99)
  if (draw < 25) return 0
  if (draw < 35) return 1
  if (draw < 50) return Math.floor(random.next() ** 2 * window)
  if (draw < 58) return Math.max(0, window - (now % window) + off)
  if (draw < 70) return Math.max(0, (last?.retryAfter ?? 0) + Math.min(0, off))
  if (draw < 76) return Math.max(0, (last?.availableAfter ?? 0) + Math.min(0, off))
  if (draw < 84) return Math.max(0, (last?.resetAfter ?? 0) + Math.min(0, off))
  if (draw < 90) return window * random.whole(1, 4) + off
  if (draw < 91) return 10 * 365 * DAY
  if (draw < 97) return -random.whole(1, window)
  return -Math.floor(window * (1 + random.next() * 3))
}

function requestOn(counts: readonly Count[], random: Random): Omit<Request, 'verdicts'> {
  const draw = random.whole(0, 99)
  const kind = draw < 72 ? 'take' : draw < 84 ? 'peek' : draw < 99 ? 'refund' : 'reset'
  const size = random.chance(0.6) ? 1 : random.whole(2, 5)
  return { do: kind, checks: Array.from({ length: size }, () => checkOn(counts, kind, random)) }
}

function checkOn(counts: readonly Count[], kind: Request['do'], random: Random): Check {
  const count = random.pick(counts)
  const drawn = random.pick(count.limits)
  const slowestQuota = Math.min(...count.limits.map(({ quota }) => Math.max(1, quota)))
  const cost = costOf(count, drawn, random)
  const base = { space: count.space, key: 'k', limit: drawn, cost, slowestQuota }
  if (kind === 'refund' && random.chance(0.7)) {
    const past = random.chance(0.5) ? count.taken.at(-1) : random.pick(count.taken)
    return past === undefined ? base : { ...base, takenAt: past }
  }
  if (kind !== 'take') return base
  return {
    ...base,
    ...(random.chance(0.1) ? { shadow: true } : {}),
    ...(random.chance(0.15) ? { countRefused: true } : {}),
  }
}

function costOf({ last }: Count, { burst }: Limit, random: Random): number {
  const left = last?.remaining ?? burst
  const draw = random.whole(0, 99)
  if (draw < 8) return 0
  if (draw < 50) return 1
  if (draw < 70) return random.whole(1, Math.min(10, burst + 1))
  if (draw < 82) return Math.max(1, left)
  if (draw < 90) return left + 1
  if (draw < 95) return burst
  return draw < 98 ? burst + 1 : Number.MAX_SAFE_INTEGER
}

function answeredBy(
  store: ReturnType<typeof memoryStore>,
  request: Omit<Request, 'verdicts'>,
): Request {
  const { checks } = request
  if (request.do === 'take') return { ...request, verdicts: store.take(checks) }
  if (request.do === 'peek') return { ...request, verdicts: store.peek(checks) }
  if (request.do === 'refund') store.refund(checks)
  else store.reset(checks)
  return { ...request, verdicts: [] }
}

function remember(counts: readonly Count[], { do: done, checks, verdicts }: Request): void {
  for (const [i, verdict] of verdicts.entries()) {
    const count = counts.find(({ space }) => space === checks[i]!.space)!
    count.last = verdict
    if (done === 'take' && verdict.allowed && checks[i]!.cost > 0) count.taken.push(verdict.at)
  }
}
