// Generates the table of docs/reference/algorithms/index.md from the first table of each algorithm's page.
import { readFile } from 'node:fs/promises'
import { execute, importSource } from './library-sources.mjs'
import { root } from './run.mjs'

const folder = `${root}docs/reference/algorithms/`
const BEGIN = '<!-- from the pages, by npm run generate -->'
const END = '<!-- end -->'

/** The index page with a new table. */
export async function makeAlgorithmIndex() {
  const { ALGORITHMS } = await importSource('src/algorithms/table')
  const rows = await Promise.all(ALGORITHMS.map(rowOf))
  const table = [
    '| you want | choose | most in any span of one window | state per key |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
  const page = await readFile(`${folder}index.md`, 'utf8')
  const [before, rest] = page.split(BEGIN)
  const after = rest?.split(END)[1]
  if (after === undefined) throw new Error(`index.md has no ${BEGIN} … ${END}`)
  const text = `${before}${BEGIN}\n\n${table}\n\n${END}${after}`
  return execute('oxfmt', ['--stdin-filepath=index.md'], text)
}

/** @param {string} name */
async function rowOf(name) {
  const page = await readFile(`${folder}${name}.md`, 'utf8')
  const [, , row] = page.split('\n').filter((line) => line.startsWith('|'))
  const cells = row?.split('|').slice(1, -1) ?? []
  if (cells.length !== 3) {
    throw new Error(`${name}.md must begin with a table of one row: you want, most, state per key`)
  }
  const [want, most, state] = cells.map((cell) => cell.trim())
  return `| ${want} | [\`${name}\`](${name}.md) | ${most} | ${state} |`
}
