// Compares figures with what was promised.
import { type Figures, TIMEOUT } from './figures.ts'
import { QUOTA, type Scenario, SHARE } from './scenario.ts'

/**
 * How much longer than promised things may take. Counts are exact whatever the machine does; times on a machine
 * that is shared with other work are not.
 */
export interface Slack {
  readonly wait: number
  readonly recovery: number
}

/** Every promise that the figures break, as sentences. */
export function broken(scenario: Scenario, figures: Figures, slack: Slack): string[] {
  const { bounds, pods = 1 } = scenario
  const { admittedInFault = SHARE, admittedAfter = 0, unheard = 0, stood = 0 } = bounds
  const { median = 5, recovery = 1000 } = bounds
  const rows: [what: string, value: number, most: number][] = [
    ['errors', figures.errors, 0],
    ['stale spends', figures.stale, 0],
    ['double charges', figures.double, 0],
    ['charges whose answer was not heard', figures.unheard, unheard],
    ['hot units admitted before the fault', figures.admittedBefore, QUOTA + pods * SHARE],
    ['hot units admitted in the fault', figures.admittedInFault, admittedInFault],
    ['hot units admitted after it', figures.admittedAfter, admittedAfter],
    ['answers of the fallback', figures.fallback, bounds.fallback === 'none' ? 0 : Infinity],
    ['ms of the longest wait', figures.longestWait, 2 * TIMEOUT * slack.wait + stood],
    ['ms of the median wait', figures.medianWait, median],
    ['ms until the store answers again', figures.recovery ?? Infinity, recovery * slack.recovery],
    ...figures.others.map(({ what, value, most }): [string, number, number] => [what, value, most]),
  ]
  return rows
    .filter(([, value, most]) => !(value <= most))
    .map(([what, value, most]) => `${what}: ${Math.round(value * 10) / 10}, at most ${most}`)
}
