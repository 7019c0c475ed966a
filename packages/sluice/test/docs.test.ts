// The worked tables of docs/reference/algorithms, held against the library.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { limit, type LimitFields } from '../src/limit/limit.ts'
import { Count } from './count.ts'
import { ALGORITHMS } from './walks.ts'

const folder = new URL('../../../docs/reference/algorithms/', import.meta.url)
const COLUMNS = ['at', 'cost', 'allowed', 'remaining', 'retryAfter', 'resetAfter', 'delay']

/** The cells of a line of a table. */
const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

/** The limit of a page and the rows of the table that follows it. */
function exampleOf(page: string): { fields: LimitFields; header: string[]; rows: string[][] } {
  const [, json, rest] = /With the limit `(\{.*?\})`([^]*)/.exec(page)!
  const lines = rest!.split('\n').filter((line) => line.startsWith('|'))
  const [header, , ...rows] = lines.map(cellsOf)
  return { fields: JSON.parse(json!) as LimitFields, header: header!, rows }
}

describe.each(ALGORITHMS)('%s', (algorithm) => {
  const page = readFileSync(new URL(`${algorithm}.md`, folder), 'utf8')
  const { fields, header, rows } = exampleOf(page)

  it('has a worked example of its own limit', () => {
    expect(fields.algorithm).toBe(algorithm)
    expect(header).toEqual(COLUMNS)
    expect(rows.length).toBeGreaterThanOrEqual(5)
  })

  it('answers as the table of its page says', () => {
    const count = new Count(limit(fields))
    const answers = rows.map(([at, cost]) => {
      const { allowed, remaining, retryAfter, resetAfter, delay } = count.take(
        Number(cost),
        Number(at),
      )
      const told = [remaining, retryAfter ?? 'never', resetAfter, delay].map(String)
      return [at, cost, allowed ? 'yes' : 'no', ...told]
    })
    expect(answers).toEqual(rows)
  })

  it('is named on the index', () => {
    expect(readFileSync(new URL('index.md', folder), 'utf8')).toContain(`(${algorithm}.md)`)
  })
})
