// A replay's result on a terminal: the sentence first, then a table, the worst victims, refusals over time, caveats.
import { fitted } from '../terminal/fitted.ts'
import type { CandidateResult, ReplayResult } from './result.ts'
import {
  algorithmName,
  count,
  countOf,
  instant,
  percent,
  rateOf,
  span,
  wrapped,
} from '../terminal/words.ts'
import { append, largest } from '../terminal/long-lists.ts'

/** How wide the text may be, and how many candidates are shown in detail. */
export interface PrintOptions {
  readonly columns: number
}

const BARS = '▁▂▃▄▅▆▇█'
const DETAILED = 3

/** The lines to print. */
export function printed(result: ReplayResult, { columns }: PrintOptions): readonly string[] {
  const { input, candidates } = result
  const lines = wrapped(result.verdict, columns)
  append(lines, ['', ...wrapped(inputText(result), columns)])
  if (input.requests > 0) {
    append(lines, ['', ...candidateTable(candidates)])
    append(lines, ['', ...demandText(result, columns)])
    for (const peaks of result.peaks)
      lines.push(
        `Peaks of clients within ${span(peaks.window)}: half ${count(peaks.p50)}, 90% ${count(peaks.p90)}, 99% ${count(peaks.p99)}, 99.9% ${count(peaks.p999)}, highest ${count(peaks.max)}.`,
      )
    for (const candidate of candidates.slice(0, DETAILED))
      if (candidate.refused > 0) append(lines, ['', ...detailsOf(candidate, result, columns)])
    if (candidates.length > DETAILED)
      lines.push('', `${candidates.length - DETAILED} more in detail with --json or --html.`)
  }
  for (const { fault, count: faults, file, line } of input.badLines)
    append(lines, [
      '',
      ...wrapped(
        `Left out: ${countOf(faults, 'line')}, ${fault}, first at ${file}:${line}.`,
        columns,
      ),
    ])
  if (result.caveats.length > 0) lines.push('', 'Keep in mind:')
  for (const { message } of result.caveats)
    append(
      lines,
      wrapped(message, columns - 2).map((line, i) => (i === 0 ? `- ${line}` : `  ${line}`)),
    )
  if (result.hashed && candidates.some(({ victims }) => victims.length > 0))
    lines.push('', 'Clients are shown as hashes; --show-keys shows who they are.')
  return lines
}

function inputText({ input, clients, by }: ReplayResult): string {
  const { requests, files, formats, from, to, stopped } = input
  if (from === null || to === null) return `${countOf(input.lines, 'line')} read.`
  const what = `${countOf(requests, 'request')} of ${countOf(clients, 'client')} by ${by.join(' and ')}`
  const when = `from ${instant(from)} to ${instant(to)} UTC (${span(to - from) || '0 s'})`
  const where = `${files.length === 1 ? files[0] : countOf(files.length, 'file')}, ${formats.join(' and ')}`
  return `${what}, ${when}; ${where}.${stopped ? ' Stopped before the end.' : ''}`
}

function candidateTable(candidates: readonly CandidateResult[]): string[] {
  const rows = candidates.map(
    ({ name, limit, refused, refusedShare, clientsHit, clientShare, longest }) => [
      limit === null ? name : rateOf(limit),
      limit === null ? 'policy' : algorithmName(limit.algorithm),
      count(refused),
      percent(refusedShare),
      count(clientsHit),
      percent(clientShare),
      longest === null ? '-' : span(longest.duration),
    ],
  )
  const head = ['LIMIT', 'ALGORITHM', 'refused', 'share', 'clients hit', 'share', 'longest refused']
  const widths = head.map((title, i) =>
    largest(
      rows.map((row) => row[i]!.length),
      title.length,
    ),
  )
  return [head, ...rows].map((row) =>
    row
      .map((cell, i) => fitted(cell, widths[i]!, i < 2 ? 'left' : 'right'))
      .join('  ')
      .trimEnd(),
  )
}

function demandText({ timeline }: ReplayResult, columns: number): string[] {
  return [
    `Requests in steps of ${span(timeline.width)}:`,
    `  ${bars(timeline.requests, columns - 2)}`,
  ]
}

function detailsOf(candidate: CandidateResult, result: ReplayResult, columns: number): string[] {
  const { limit, name, victims, longest, rules, timeline } = candidate
  const title =
    limit === null ? `policy ${name}` : `${rateOf(limit)} ${algorithmName(limit.algorithm)}`
  const lines = [`Refused by ${title}, in steps of ${span(result.timeline.width)}:`]
  lines.push(`  ${bars(timeline, columns - 2)}`)
  for (const { rule, refused } of rules)
    lines.push(`  ${countOf(refused, 'refusal')} by rule ${rule}`)
  if (longest !== null && longest.duration > 0)
    lines.push(
      `  longest without an allowed request: ${longest.client}, ${span(longest.duration)} from ${instant(longest.from)}`,
    )
  const width = Math.min(
    40,
    largest(
      victims.map(({ client }) => client.length),
      6,
    ),
  )
  lines.push(
    `  ${fitted('CLIENT', width)}  ${['refused', 'requests', 'peak'].map((one) => one.padStart(9)).join('')}  longest refused`,
  )
  for (const victim of victims)
    lines.push(
      `  ${fitted(victim.client, width)}  ${[victim.refused, victim.requests, victim.peak].map((one) => count(one).padStart(9)).join('')}  ${victim.longest === 0 ? '-' : span(victim.longest)}`,
    )
  return lines
}

/** A row of bars, at most so many columns: neighbours are joined where there are more steps. */
function bars(counts: readonly number[], columns: number): string {
  const joined = Math.max(1, Math.ceil(counts.length / Math.max(10, columns)))
  const sums: number[] = []
  for (let i = 0; i < counts.length; i += joined)
    sums.push(counts.slice(i, i + joined).reduce((sum, one) => sum + one, 0))
  const highest = largest(sums, 1)
  return sums
    .map((sum) => (sum === 0 ? ' ' : BARS[Math.min(7, Math.floor((sum / highest) * 8))]!))
    .join('')
    .trimEnd()
}
