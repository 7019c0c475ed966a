// Compares this checkout with another built one: `node bench/compare/run.mjs <folder> [--pairs=5] [--turns=5] [--only=memory]`.
//
// Each side does the same work in a process of its own; the two of a pair run one after the other, and every other pair in the
// reverse order. What is compared is processor time; of the service, that of its process.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { measureInChild } from '../lib/child.mjs'
import { machine } from '../lib/machine.mjs'
import { finite, median, ratios } from '../lib/statistics.mjs'
import { figure, markdownTable, withSpread } from '../lib/table.mjs'
import { works } from './works.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pairs: { type: 'string', default: '5' },
    turns: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
  },
})
const [other] = positionals
const pairs = Number(values.pairs)
const turns = Number(values.turns)
if (other === undefined || !(pairs > 0) || !(turns > 0)) {
  console.error(
    'node bench/compare/run.mjs <another built checkout> [--pairs=5] [--turns=5] [--only=<part of a name>]',
  )
  process.exit(2)
}
if (!existsSync(`${other}/packages/sluice/dist/index.js`)) {
  console.error(`${other} is no built checkout: run npm ci and npm run build there`)
  process.exit(2)
}
const names = Object.keys(works).filter((name) => name.includes(values.only))
if (names.length === 0) {
  console.error(`--only=${values.only}; works: ${Object.keys(works).join('; ')}`)
  process.exit(2)
}
const sides = [fileURLToPath(new URL('../..', import.meta.url)), resolve(other)]
const cell = new URL('cell.mjs', import.meta.url)

console.log(JSON.stringify(machine()))
const rows = []
for (const work of names) {
  /** The medians of the processes of both sides. @type {[number[], number[]]} */
  const times = [[], []]
  for (let pair = 0; pair < pairs; pair++) {
    for (const side of pair % 2 === 0 ? [0, 1] : [1, 0]) {
      const all = await measureInChild(cell, { folder: sides[side], work, turns })
      times[side]?.push(median(all))
    }
  }
  const [own, others] = times
  const each = ratios(own, others)
  console.error(`${work}: ${withSpread(each)}`)
  rows.push([work, figure(median(finite(own))), figure(median(finite(others))), withSpread(each)])
}
console.log(markdownTable(['work', 'ns here', 'ns there', 'here ÷ there'], rows))
