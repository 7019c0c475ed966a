// The result of `sluice simulate`: one run for each algorithm and mode, and a summary of all in one sentence.
import type { SimulationResult } from 'sluice/simulator'
import { algorithmName, count, countOf, percent, rateOf } from '../terminal/words.ts'

/** What the command prints, as JSON or otherwise. */
export interface SimulationReport {
  readonly name: string
  readonly about: string
  readonly verdict: string
  readonly runs: readonly SimulationResult[]
}

/** The name of a run among the others: what differs between them. */
export function runName(run: SimulationResult, runs: readonly SimulationResult[]): string {
  const differs = (of: (one: SimulationResult) => string): boolean =>
    runs.some((one) => of(one) !== of(run))
  const parts = [
    differs(({ mode }) => mode) ? run.mode : '',
    differs(({ limit }) => limit.algorithm) ? algorithmName(run.limit.algorithm) : '',
  ].filter((part) => part !== '')
  return parts.join(', ') || `${run.mode}, ${algorithmName(run.limit.algorithm)}`
}

/** The main result, in one or two sentences. */
export function simulationVerdict(runs: readonly SimulationResult[]): string {
  const [first] = runs
  if (first === undefined) return 'Nothing was simulated.'
  const nameOf = (run: SimulationResult): string => runName(run, runs)
  const refused = ({ refused, decisions }: SimulationResult): number =>
    decisions === 0 ? 0 : refused / decisions
  if (runs.length === 1)
    return `${rateOf(first.limit)} ${algorithmName(first.limit.algorithm)}, ${first.mode} on ${countOf(first.pods, 'pod')}, refuses ${percent(refused(first))} of ${countOf(first.decisions, 'request')}; ${excessText(runs, nameOf)}.`
  const sorted = runs.toSorted((a, b) => refused(a) - refused(b))
  const [least, most] = [sorted[0]!, sorted.at(-1)!]
  const refusals =
    refused(least) === refused(most)
      ? `All refuse ${percent(refused(first))} of ${countOf(first.decisions, 'request')}`
      : `${nameOf(least)} refuses the fewest requests (${percent(refused(least))}), ${nameOf(most)} the most (${percent(refused(most))})`
  const text = `${refusals}; ${excessText(runs, nameOf)}.`
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function excessText(
  runs: readonly SimulationResult[],
  nameOf: (run: SimulationResult) => string,
): string {
  const brokenRuns = runs.filter(({ bounds }) => bounds.some(({ holds }) => !holds))
  if (brokenRuns.length > 0) return `a bound is broken by ${brokenRuns.map(nameOf).join(' and ')}`
  const over = runs.filter(({ excess }) => excess > 0).toSorted((a, b) => b.excess - a.excess)
  const [worst] = over
  if (worst === undefined) return 'no span of time exceeds the limit'
  const who = runs.length === 1 ? 'some span' : nameOf(worst)
  return `${who} exceeds the limit by up to ${countOf(worst.excess, 'unit')} (quota ${count(worst.limit.quota)})`
}
