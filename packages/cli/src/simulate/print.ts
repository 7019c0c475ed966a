// Simulations on a terminal: the sentence first, then a table of all runs, then requests over time.
import type { SimulationResult } from 'sluice/simulator'
import { fitted, millisText } from '../terminal/fitted.ts'
import { count, countOf, percent, rateOf, span, wrapped } from '../terminal/words.ts'
import { runName, type SimulationReport } from './simulation.ts'
import { append, largest } from '../terminal/long-lists.ts'

const BARS = '▁▂▃▄▅▆▇█'
const HEAD = ['allowed', 'refused', 'vs ideal', 'peak', 'over by', 'calls', 'p50', 'p99']

/** The lines to print. */
export function printedSimulation(report: SimulationReport, columns: number): readonly string[] {
  const { runs, about, verdict } = report
  const lines = wrapped(verdict, columns)
  if (about !== '') append(lines, ['', ...wrapped(about, columns)])
  const [first] = runs
  if (first === undefined) return lines
  append(lines, ['', ...wrapped(fleetText(first), columns)])
  const names = runs.map((run) => runName(run, runs))
  const width = largest(
    names.map((name) => name.length),
    3,
  )
  lines.push('', `${fitted('RUN', width)}${HEAD.map((one) => one.padStart(10)).join('')}`)
  for (const [i, run] of runs.entries())
    lines.push(
      `${fitted(names[i]!, width)}${cellsOf(run)
        .map((one) => one.padStart(10))
        .join('')}`,
    )
  append(lines, [
    '',
    ...wrapped(
      `vs ideal: against one decider without latency. peak: the most units of one key in any span of ${span(first.limit.window)}. over by: units beyond what the algorithm allows in the worst span of any length; a bucket allows its burst and its refill, a fixed window two quotas around an edge. calls: store calls per decision.`,
      columns,
    ),
  ])
  lines.push('', `Requests in steps of ${span(first.timeline.step)}:`)
  lines.push(`  ${bars(first.timeline.demand, columns - 2)}`)
  for (const [i, run] of runs.entries()) {
    if (run.refused === 0 || i >= MAX_DETAILED) continue
    lines.push(`Refused by ${names[i]}:`, `  ${bars(run.timeline.refused, columns - 2)}`)
  }
  if (runs.length > MAX_DETAILED)
    lines.push(`${runs.length - MAX_DETAILED} more with --json or --html.`)
  return lines
}

const MAX_DETAILED = 4

function fleetText({
  limit,
  pods,
  lasts,
  decisions,
  retries,
  keys,
  seed,
}: SimulationResult): string {
  const retriesText = retries > 0 ? `, ${count(retries)} of them retries,` : ''
  return `${rateOf(limit)}; ${countOf(pods, 'pod')}; ${countOf(decisions, 'request')}${retriesText} of ${countOf(keys.count, 'key')} in ${span(lasts)}; seed ${seed}.`
}

function cellsOf(run: SimulationResult): string[] {
  const { allowed, refused, decisions, over, under, peak, excess, latency } = run
  return [
    count(allowed),
    decisions === 0 ? '-' : percent(refused / decisions),
    over > 0 ? `+${percent(over)}` : under > 0 ? `-${percent(under)}` : '=',
    count(peak),
    count(excess),
    run.storeCallsPerDecision.toFixed(run.storeCallsPerDecision < 0.1 ? 4 : 2),
    latency.p50 === 0 ? '0' : millisText(latency.p50),
    latency.p99 === 0 ? '0' : millisText(latency.p99),
  ]
}

/** Numbers as bars, in at most so many columns. */
function bars(values: readonly number[], columns: number): string {
  const perColumn = Math.ceil(values.length / Math.max(1, columns))
  const sums: number[] = []
  for (const [i, value] of values.entries()) {
    const column = Math.floor(i / perColumn)
    sums[column] = (sums[column] ?? 0) + value
  }
  const highest = largest(sums, 1)
  return sums
    .map((sum) => (sum === 0 ? ' ' : BARS[Math.min(7, Math.floor((sum / highest) * 8))]!))
    .join('')
}
