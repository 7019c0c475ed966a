// From answers and measured traffic to a limit: every part with its reason and the trade-off that comes with it.
import type { AlgorithmName, Millis } from 'sluice'
import { algorithmName, count, countOf, percent, period, span } from '../terminal/words.ts'
import type { Answers } from './answers.ts'

/** What a log says about the traffic. */
export interface Traffic {
  readonly clients: number
  readonly requests: number
  readonly window: Millis
  /** Peaks of clients: half are at or below the first. */
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** The smallest quota that touches fewer clients than the chosen share, and the share that it touches. */
  readonly quota: number
  readonly touched: number
  readonly chosenShare: number
}

/** One part of the advice. */
interface Choice {
  readonly part: 'algorithm' | 'limit' | 'burst' | 'key' | 'coordination' | 'failure'
  readonly value: string
  readonly reason: string
  readonly tradeOff: string
}

/** The whole advice. */
export interface Advice {
  readonly algorithm: AlgorithmName
  readonly quota: number
  readonly window: Millis
  readonly burst: number
  readonly by: string
  readonly fleet: boolean
  readonly onStoreFailure: 'local' | 'open' | 'closed'
  /** True when the numbers are a guess, so that the rule should only count at first. */
  readonly shadow: boolean
  readonly choices: readonly Choice[]
}

/** A sliding log keeps the time of each request; beyond this the memory is not worth it. */
const MAX_LOG_QUOTA = 1000

/** Quotas without a log: a start to count with, not a limit to enforce. */
const GUESSED_QUOTAS = { people: 120, sdks: 600, jobs: 300 } as const

const BUCKETS: ReadonlySet<AlgorithmName> = new Set(['token-bucket', 'gcra', 'leaky-bucket'])

/** The advice for these answers. */
export function adviceFor(answers: Answers, by: string, window: Millis, traffic?: Traffic): Advice {
  const quota = quotaFor(answers, traffic)
  const algorithm = algorithmFor(answers, quota)
  const burst =
    BUCKETS.has(algorithm) && answers.callers === 'jobs'
      ? Math.max(1, Math.ceil(quota / 10))
      : quota
  const fleet = answers.processes === 'fleet'
  const onStoreFailure = failureFor(answers)
  return {
    algorithm,
    quota,
    window,
    burst,
    by,
    fleet,
    onStoreFailure,
    shadow: traffic === undefined,
    choices: [
      { part: 'algorithm', value: algorithmName(algorithm), ...ALGORITHM_REASONS[algorithm] },
      limitChoice(answers, quota, window, traffic),
      burstChoice(algorithm, burst, quota, window),
      keyChoice(by),
      fleet ? SHARED_COUNTS : SINGLE_PROCESS,
      { part: 'failure', value: onStoreFailure, ...FAILURE_REASONS[onStoreFailure] },
    ],
  }
}

/** The algorithm follows from exactness first, then from what must not happen, then from the callers. */
export function algorithmFor(
  { avoid, callers, exact, violation }: Answers,
  quota: number,
): AlgorithmName {
  if (exact === 'yes') return quota <= MAX_LOG_QUOTA ? 'sliding-log' : 'sliding-window'
  if (avoid === 'overload' && violation === 'much') return 'sliding-window'
  return callers === 'people' ? 'token-bucket' : 'gcra'
}

type Reasons = Pick<Choice, 'reason' | 'tradeOff'>

const ALGORITHM_REASONS: Readonly<Record<AlgorithmName, Reasons>> = {
  'token-bucket': {
    reason: 'it lets short bursts through, which is how people call, and holds the rate over time',
    tradeOff: 'right after a pause a client may make nearly twice the quota within one window',
  },
  gcra: {
    reason: 'it refills evenly and tells refused programs the exact instant at which to come back',
    tradeOff: 'right after a pause a client may make nearly twice the quota within one window',
  },
  'leaky-bucket': {
    reason: 'it spreads requests evenly',
    tradeOff: 'allowed requests may have to wait',
  },
  'fixed-window': {
    reason: 'it is the simplest',
    tradeOff: 'around the edge of a window a client may make twice the quota',
  },
  'sliding-window': {
    reason:
      'it holds the quota in any window to within a small error, with two numbers for each client',
    tradeOff: 'the error: it assumes that requests of the last window came evenly',
  },
  'sliding-log': {
    reason:
      'it never allows more than the quota in any window, by keeping the time of every request',
    tradeOff: 'memory: one number for each request within the window',
  },
}

const FAILURE_REASONS: Readonly<Record<Advice['onStoreFailure'], Reasons>> = {
  local: {
    reason: 'without the store each process goes on with a share of the limit',
    tradeOff: 'the limit is only approximate until the store is back',
  },
  open: {
    reason:
      'without the store everything is let through, so that a fault of the limiter refuses no request',
    tradeOff: 'there is no limit until the store is back',
  },
  closed: {
    reason: 'without the store everything is refused, since a request beyond the limit costs much',
    tradeOff: 'a fault of the store is an outage for callers',
  },
}

const SHARED_COUNTS: Choice = {
  part: 'coordination',
  value: 'Redis',
  reason: 'all processes count in one place, so the limit holds for all of them together',
  tradeOff: 'each decision is one round trip to Redis',
}

const SINGLE_PROCESS: Choice = {
  part: 'coordination',
  value: 'memory',
  reason: 'one process needs no shared store, and decides without waiting',
  tradeOff: 'a restart forgets the counts; a second process would grant the limit a second time',
}

function failureFor({ avoid, violation, processes }: Answers): Advice['onStoreFailure'] {
  if (processes === 'one') return 'local'
  if (avoid === 'overload') return violation === 'much' ? 'closed' : 'local'
  return violation === 'much' ? 'local' : 'open'
}

function quotaFor({ avoid, callers }: Answers, traffic: Traffic | undefined): number {
  if (traffic === undefined) return GUESSED_QUOTAS[callers]
  // Traffic grows, and yesterday was not the busiest day there will be.
  return roundUp(avoid === 'refusals' ? traffic.quota * 1.5 : traffic.quota)
}

/** The next number with two digits that matter. */
function roundUp(value: number): number {
  const scale = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1)
  return Math.max(1, Math.ceil(value / scale) * scale)
}

function limitChoice(
  { avoid, callers }: Answers,
  quota: number,
  window: Millis,
  traffic?: Traffic,
): Choice {
  const value = `${count(quota)}/${period(window)}`
  if (traffic === undefined)
    return {
      part: 'limit',
      value,
      reason: `there is no log, so this is a guess for ${callers}`,
      tradeOff:
        'it may be wrong by ten times: the rule only counts at first (shadow); give a log, or watch it for a week',
    }
  const { clients, requests, p50, p99, max, touched, chosenShare } = traffic
  const room = avoid === 'refusals' ? '; half as much again is added for growth' : ''
  return {
    part: 'limit',
    value,
    reason: `on ${countOf(requests, 'request')} of ${countOf(clients, 'client')}, ${count(traffic.quota)}/${period(window)} is the smallest limit that touches fewer than ${percent(chosenShare)} of clients${room}`,
    tradeOff: `that limit touches ${percent(touched)} of clients; peaks within ${span(window)} are ${count(p50)} for half of them, ${count(p99)} for 99%, ${count(max)} for the busiest`,
  }
}

function burstChoice(
  algorithm: AlgorithmName,
  burst: number,
  quota: number,
  window: Millis,
): Choice {
  if (!BUCKETS.has(algorithm))
    return {
      part: 'burst',
      value: 'none',
      reason: `a ${algorithmName(algorithm)} has none: the whole quota may come at once`,
      tradeOff: 'simultaneous requests up to the quota reach you',
    }
  return burst === quota
    ? {
        part: 'burst',
        value: count(burst),
        reason: 'the whole quota may come at once, so that no client is refused for being quick',
        tradeOff: 'simultaneous requests up to the quota reach you',
      }
    : {
        part: 'burst',
        value: count(burst),
        reason: `jobs can wait: a tenth of the quota at once, then one every ${span(Math.round(window / quota))}`,
        tradeOff: 'a job that starts with many requests at once is refused at first',
      }
}

function keyChoice(by: string): Choice {
  if (by === 'ip')
    return {
      part: 'key',
      value: 'ip',
      reason: 'the address is what is known of every caller',
      tradeOff:
        'people behind one NAT share a limit, and one attacker may have many addresses; count by user or API key where you know them',
    }
  return {
    part: 'key',
    value: by,
    reason: `${by} names the caller wherever it calls from; callers without one are counted by address`,
    tradeOff: `a request must be authenticated before it is counted by ${by}`,
  }
}
