// A measurement on a terminal: the sentence first, then a table.
import { fitted, millisText } from '../terminal/fitted.ts'
import { count, percent, wrapped } from '../terminal/words.ts'
import type { Measured } from './load.ts'
import { append, largest } from '../terminal/long-lists.ts'

/** What the command prints, as JSON or otherwise. */
export interface BenchReport {
  readonly policy: string
  readonly keys: number
  readonly zipf: number
  readonly concurrency: number
  readonly results: readonly Measured[]
}

const HEAD = ['decisions/s', 'p50', 'p99', 'calls', 'refused', 'fallback', 'failed']

/** The lines to print. */
export function printedBench(report: BenchReport, columns: number): readonly string[] {
  const { policy, keys, zipf, concurrency, results } = report
  const last = results.at(-1)
  if (last === undefined) return ['Nothing was measured.']
  const sentence = `${last.name}: ${count(last.perSecond)} decisions per second, half of them within ${millisText(last.p50)}, 99% within ${millisText(last.p99)}.`
  const width = largest(
    results.map(({ name }) => name.length),
    6,
  )
  const lines = [
    ...wrapped(sentence, columns),
    '',
    ...wrapped(
      `Policy ${policy}; ${count(keys)} keys${zipf > 0 ? `, Zipf ${zipf}` : ''}; ${concurrency} at once; ${last.seconds.toFixed(1)} s each.`,
      columns,
    ),
    '',
    `${fitted('TARGET', width)}${HEAD.map((one) => one.padStart(13)).join('')}`,
    ...results.map((one) => `${fitted(one.name, width)}${cellsOf(one).join('')}`),
    '',
    'calls: scripts that the store executed per decision, by its own statistics.',
  ]
  if (results.some(({ rules }) => rules.length === 0))
    append(
      lines,
      wrapped(
        'No rule applied to some target: the requests have the attributes that the rules count by, and no others.',
        columns,
      ),
    )
  return lines
}

function cellsOf(one: Measured): string[] {
  const share = (part: number): string => percent(part / Math.max(1, one.decisions))
  const calls = one.storeCallsPerDecision
  return [
    count(one.perSecond),
    millisText(one.p50),
    millisText(one.p99),
    calls === null ? '-' : calls.toFixed(calls < 0.1 ? 4 : 2),
    share(one.refused),
    share(one.degraded),
    share(one.failed),
  ].map((cell) => cell.padStart(13))
}
