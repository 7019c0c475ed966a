// `npm run bench:coordination`: one process and one hot key, with leases against memory and against a round trip each.
//
// Each measurement has a process of its own; they take turns, so that ratios compare measurements of the same minute.
import { measureInChild } from '../lib/child.mjs'
import { startRedisServer } from '../lib/redis-server.mjs'
import { interleaved } from '../lib/rounds.mjs'
import { median, pairedRatio } from '../lib/statistics.mjs'
import { figure, markdownTable, withSpread } from '../lib/table.mjs'
import { CELLS } from './contenders.mjs'
import { callsOf } from './server-calls.mjs'

const ROUNDS = Number(process.argv[2] ?? 5)

/** @typedef {{ perCpuSecond: number, perSecond: number, oneByOne: number, p99: number, decisions: number, refused: number, calls: number }} Figures */

/** @type {Map<string, Figures[]>} */
const results = new Map(CELLS.map(({ name }) => [name, []]))
const server = await startRedisServer()
try {
  for (const { cell } of interleaved(CELLS, ROUNDS)) {
    const before = await callsOf(server.port)
    const figures = await measureInChild(new URL('cell.mjs', import.meta.url), {
      cell,
      port: server.port,
    })
    const calls = (await callsOf(server.port)) - before
    results.get(cell.name)?.push({ ...figures, calls })
  }
} finally {
  server.stop()
}

/** @param {string} name @param {keyof Figures} what */
const all = (name, what) => (results.get(name) ?? []).map((figures) => figures[what])
const rows = CELLS.map(({ name, kind }) => {
  const calls = median(all(name, 'calls')) / median(all(name, 'decisions'))
  return [
    name,
    withSpread(all(name, 'perCpuSecond')),
    withSpread(all(name, 'perSecond')),
    withSpread(all(name, 'oneByOne')),
    kind === 'memory' ? '-' : calls.toPrecision(2),
    `${figure(median(all(name, 'p99')) * 1000)} µs`,
    figure(median(all(name, 'refused'))),
  ]
})
const head = ['cell', 'decisions per CPU second', 'per second', 'per second, one after the other']
head.push('calls per decision, at most')
console.log(markdownTable([...head, 'p99, one at a time', 'refused'], rows))

/** @type {readonly (readonly [a: string, b: string, target: string])[]} */
const ratios = [
  ['leased, checkNow', 'memory', 'at least 0.5'],
  ['leased, check', 'strict, check', 'at least 30'],
]
const compared = ratios.map(([a, b, target]) => [
  `${a} ÷ ${b}`,
  figure(pairedRatio(all(a, 'perCpuSecond'), all(b, 'perCpuSecond'))),
  figure(pairedRatio(all(a, 'perSecond'), all(b, 'perSecond'))),
  figure(pairedRatio(all(a, 'oneByOne'), all(b, 'oneByOne'))),
  target,
])
console.log(
  `\n${markdownTable(['ratio', 'by CPU time', 'by wall time', 'one after the other', 'target'], compared)}`,
)
