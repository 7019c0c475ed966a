// Prints results as markdown tables with aligned columns.
import { median } from './statistics.mjs'

/**
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 */
export function markdownTable(head, rows) {
  const widths = head.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)),
  )
  /** @param {readonly string[]} row */
  const line = (row) => `| ${widths.map((width, i) => (row[i] ?? '').padEnd(width)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

/** Three significant digits, or as many as stand before the point; `-` for no number. @param {number | undefined} value */
export function figure(value) {
  if (value === undefined || Number.isNaN(value)) return '-'
  const size = Math.abs(value)
  if (size >= 1e6) return `${(value / 1e6).toFixed(2)}M`
  if (size >= 1e4) return `${(value / 1e3).toFixed(0)}k`
  return value.toFixed(size >= 99.5 ? 0 : size >= 9.95 ? 1 : 2)
}

/** The median of the rounds, and the least and the most that one of them had. @param {readonly number[]} values */
export function withSpread(values) {
  if (values.length === 0) return '-'
  return `${figure(median(values))} (${figure(Math.min(...values))}–${figure(Math.max(...values))})`
}
