// The second part of `npm run bench:coordination`, also `node bench/coordination/fleet.mjs [seconds] [load]`: 8 processes on one server, in all: a hot key, Zipf keys, and a storm of refusals.
//
// Every process counts what it admitted of each key. The sum must not exceed burst + rate * T of the whole run: the same
// run that shows the speed shows that the limit held. Beside them stand floors, with the same processes, keys and loop and
// no server: what is left of this machine for decisions that look a number up in a Map, and for those of the memory store.
import { measureInChild } from '../lib/child.mjs'
import { startRedisServer } from '../lib/redis-server.mjs'
import { figure, markdownTable } from '../lib/table.mjs'
import { callsOf, serverCpuOf } from './server-calls.mjs'

const PROCESSES = 8
const LENGTH = 1000 * Number(process.argv[2] ?? 4)

/** @typedef {{ name: string, keys: number, quota: number, burst: number, processes: number, atOnce: boolean, kind: 'leased' | 'memory' | 'map', goal: string }} Load */

/** @type {Omit<Load, 'kind' | 'goal'>} */
const HOT = {
  name: 'hot key',
  keys: 1,
  quota: 50_000_000,
  burst: 5_000_000,
  processes: PROCESSES,
  atOnce: true,
}
/** @type {Omit<Load, 'kind' | 'goal'>} */
const ZIPF = {
  name: 'Zipf 1.1, 100 k keys',
  keys: 100_000,
  // Above what the hottest key is asked for at the goal: an eighth of all requests.
  quota: 500_000,
  burst: 500_000,
  processes: PROCESSES,
  atOnce: true,
}
/** @type {readonly Load[]} */
const LOADS = [
  { ...HOT, kind: 'leased', goal: '8 M/s' },
  { ...HOT, name: 'hot key, memory store alone', kind: 'memory', goal: 'floor' },
  { ...ZIPF, kind: 'leased', goal: '1.5 M/s' },
  { ...ZIPF, name: 'Zipf, memory store alone', kind: 'memory', goal: 'floor' },
  { ...ZIPF, name: 'Zipf, a number in a Map alone', kind: 'map', goal: 'floor' },
  {
    name: 'refusals, 512 in flight',
    keys: 1,
    quota: 5000,
    burst: 500,
    processes: 1,
    atOnce: false,
    kind: 'leased',
    goal: '≤ 1 % of calls',
  },
]

/** @typedef {{ all: number, decisions: number, admitted: [key: number, units: number][], refused: number, undecided: number, began: number, ended: number, cpu: number, p99: number }} Share */

const only = process.argv[3] ?? ''
const rows = []
let broken = 0
for (const load of LOADS.filter(({ name }) => name.startsWith(only))) {
  const server = await startRedisServer()
  try {
    const before = await callsOf(server.port)
    const cpuBefore = await serverCpuOf(server.port)
    /** @type {Share[]} */
    const shares = await Promise.all(
      Array.from({ length: load.processes }, (_, seed) =>
        measureInChild(new URL('fleet-member.mjs', import.meta.url), {
          load,
          seed,
          port: server.port,
          length: LENGTH,
        }),
      ),
    )
    const calls = (await callsOf(server.port)) - before
    const serverCpu = (await serverCpuOf(server.port)) - cpuBefore
    const [began, ended] = [
      Math.min(...shares.map((one) => one.began)),
      Math.max(...shares.map((one) => one.ended)),
    ]
    const seconds = (ended - began) / 1000
    const sum = (/** @type {(share: Share) => number} */ of) =>
      shares.reduce((all, one) => all + of(one), 0)
    /** @type {Map<number, number>} */
    const admitted = new Map()
    for (const share of shares)
      for (const [key, units] of share.admitted) admitted.set(key, (admitted.get(key) ?? 0) + units)
    const bound = load.burst + load.quota * seconds
    const most = Math.max(0, ...admitted.values())
    if (load.kind === 'leased' && most > bound) broken += 1
    const decisions = sum((one) => one.decisions)
    const all = sum((one) => one.all)
    rows.push([
      load.name,
      figure(decisions / (LENGTH / 1000)),
      figure(decisions / sum((one) => one.cpu)),
      `${figure((serverCpu / all) * 1e6)} µs`,
      load.goal,
      `${((100 * sum((one) => one.refused)) / decisions).toFixed(1)} %`,
      figure(sum((one) => one.undecided)),
      `${((100 * calls) / all).toFixed(3)} %`,
      `${figure(Math.max(...shares.map((one) => one.p99)) * 1000)} µs`,
      load.kind === 'leased' ? `${figure(most)} of ${figure(bound)}` : '-',
    ])
  } finally {
    server.stop()
  }
}
const head =
  'load,decisions/s in all,per CPU second,server CPU each,goal,refused,undecided,calls per decision,p99 of the slowest process,most of one key'
console.log(markdownTable(head.split(','), rows))
if (broken > 0) console.error(`${broken} loads exceed the limit`)
process.exitCode = broken > 0 ? 1 : 0
