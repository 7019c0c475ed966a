// Compares figures with what was promised.
import type { Figures } from './figures.ts'
import { QUOTA, type Scenario, SHARE, TIMEOUT, WINDOW } from './scenario.ts'

/**
 * How many times longer than promised things may take. Counts are exact whatever the machine does; times on a machine
 * that is shared with other work are not.
 */
export type Slack = number

/** What travels in one call at most. */
const ONE_CALL = 64

function whyOf({ causes }: Figures): string {
  return Object.entries(causes)
    .map(([cause, count]) => `${cause} ${count}`)
    .join(', ')
}

/** Every promise that the figures break, as sentences. */
export function broken(scenario: Scenario, figures: Figures, slack: Slack): string[] {
  const { bounds, pods = 1 } = scenario
  const { again = 0, unheard = ONE_CALL, median = 5, recovery = 1000 } = bounds
  const limiters = pods * (scenario.load?.connections ?? 1)
  const { quota = QUOTA, window = WINDOW } = scenario.load ?? {}
  // A window other than a day gives units back while the scenario runs; such a scenario measures them itself.
  const ofDay = (bound: number): number => (window === WINDOW ? bound : Infinity)
  const longestWait = Math.max(2 * TIMEOUT * slack, 2 * figures.deadline)
  // On a busy machine most waits may last until the deadline; beyond it, something hangs.
  const medianWait = slack === 1 ? median : Math.max(median * slack, figures.deadline)
  // What was charged, told too late and handed back may be admitted later.
  const unspent = ofDay(quota) - figures.spentBefore
  const rows: [what: string, value: number, most: number][] = [
    ['errors', figures.errors, 0],
    ['stale spends', figures.stale, 0],
    ['double charges', figures.double, 0],
    ['charges whose answer was not heard', figures.unheard, unheard],
    ['hot units admitted by the store before the fault', figures.spentBefore, ofDay(quota)],
    ['hot units admitted by the store since', figures.byStore, unspent + again],
    ['hot units admitted by the fallback', figures.byFallback, ofDay(limiters * quota * SHARE)],
    ['hot units admitted by the fallback against a refusal', figures.againstRefusal, ofDay(0)],
    [`answers of the fallback (${whyOf(figures)})`, figures.fallback, bounds.fallback ?? Infinity],
    ['ms of the longest wait that is our own', figures.ownWait, longestWait],
    ['ms of the median wait that is our own', figures.medianWait, medianWait],
    ['ms until the store answers again', figures.recovery ?? Infinity, recovery * slack],
    ...figures.others.map(({ what, value, most, isTimed = false }): [string, number, number] => [
      what,
      value,
      isTimed ? most * slack : most,
    ]),
  ]
  return rows
    .filter(([, value, most]) => !(value <= most))
    .map(([what, value, most]) => `${what}: ${Math.round(value * 10) / 10}, at most ${most}`)
}
