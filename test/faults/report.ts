// The figures of scenarios as one table.
import type { Figures } from './figures.ts'

const columns: readonly (readonly [head: string, cell: (figures: Figures) => string])[] = [
  ['errors', ({ errors }) => `${errors}`],
  ['longest wait', ({ longestWait }) => milliseconds(longestWait)],
  ['still', ({ stoodStill }) => milliseconds(stoodStill)],
  ['own wait', ({ ownWait }) => milliseconds(ownWait)],
  ['median', ({ medianWait }) => milliseconds(medianWait)],
  ['admitted in fault', ({ admittedInFault }) => `${admittedInFault}`],
  ['after', ({ admittedAfter }) => `${admittedAfter}`],
  ['stale', ({ stale }) => `${stale}`],
  ['double', ({ double }) => `${double}`],
  ['unheard', ({ unheard }) => `${unheard}`],
  ['fallback', ({ fallback, requests }) => `${fallback} of ${requests}`],
  ['back after', ({ recovery }) => (recovery === null ? 'never' : milliseconds(recovery))],
  ['more', ({ others }) => others.map(({ what, value }) => `${round(value)} ${what}`).join(', ')],
]

/** A row of the table. */
export interface Row {
  readonly scenario: string
  readonly client: string
  readonly figures: Figures
}

/** The table, as Markdown that lines up. */
export function tableOf(rows: readonly Row[]): string {
  const head = ['scenario', 'client', ...columns.map(([name]) => name)]
  const cells = rows.map(({ scenario, client, figures }) => [
    scenario,
    client,
    ...columns.map(([, cell]) => cell(figures)),
  ])
  const widths = head.map((name, i) => Math.max(name.length, ...cells.map((row) => row[i]!.length)))
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  const rule = line(widths.map((width) => '-'.repeat(width)))
  return [line(head), rule, ...cells.map(line)].join('\n')
}

function milliseconds(value: number): string {
  return `${round(value)} ms`
}

function round(value: number): number {
  return value < 10 ? Math.round(value * 10) / 10 : Math.round(value)
}
