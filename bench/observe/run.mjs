// What all observers of the service cost a check in memory: CPU time per check with and without them, in short turns.
// node bench/observe/run.mjs [sets] [turns] [shares]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { lowerQuartile, median, pairedRatio } from '../lib/statistics.mjs'
import { markdownTable } from '../lib/table.mjs'

const CONTENDERS = ['none', 'empty', 'all']
/** The young generation of a service that has run for a while: V8 makes it larger when first objects are kept, and slower. */
const YOUNG = ['--min-semi-space-size=16', '--max-semi-space-size=16']
/** Processes of each contender: V8 compiles the same code better in one process than in another. */
const sets = Number(process.argv[2] ?? 7)
/** Turns of a set, each some ten milliseconds: neighbours on the machine strike both sides of a ratio alike. */
const turns = Number(process.argv[3] ?? 40)
/** What limits answer. */
const shares = process.argv[4]?.split(',') ?? ['allowed', 'refused']
const cell = new URL('cell.mjs', import.meta.url)

/** One process: the contenders in turns inside it, if there are several. @param {string} share @param {readonly string[]} contenders */
async function start(share, contenders) {
  const child = fork(cell, [share, ...contenders], { execArgv: YOUNG })
  await once(child, 'message')
  return child
}

/** CPU nanoseconds per check of one turn. @param {import('node:child_process').ChildProcess} child @param {string} contender */
async function turn(child, contender) {
  child.send(contender)
  const [{ nanos }] = await once(child, 'message')
  return /** @type {number} */ (nanos)
}

/**
 * The contenders in turns, in one process or in one each: nanoseconds by contender.
 * @param {string} share
 * @param {boolean} isTogether
 */
async function measured(share, isTogether) {
  /** @type {Record<string, number[]>} */
  const nanos = Object.fromEntries(CONTENDERS.map((contender) => [contender, []]))
  const groups = isTogether ? [CONTENDERS] : CONTENDERS.map((contender) => [contender])
  const children = await Promise.all(groups.map((group) => start(share, group)))
  for (let i = 0; i < turns; i++) {
    const order = i % 2 === 0 ? CONTENDERS : CONTENDERS.toReversed()
    for (const contender of order) {
      const child = children[isTogether ? 0 : CONTENDERS.indexOf(contender)]
      if (child !== undefined) nanos[contender]?.push(await turn(child, contender))
    }
  }
  for (const child of children) {
    child.disconnect()
    child.kill()
  }
  return nanos
}

const percent = (/** @type {number} */ ratio) => `${((ratio - 1) * 100).toFixed(1)} %`
const rows = []
for (const share of shares) {
  for (const isTogether of [false, true]) {
    const all = []
    for (let set = 0; set < sets; set++) all.push(await measured(share, isTogether))
    for (const contender of CONTENDERS) {
      const ratios = all.map((nanos) => pairedRatio(nanos[contender] ?? [], nanos['none'] ?? []))
      const cost = median(all.map((nanos) => lowerQuartile(nanos[contender] ?? [])))
      const spread = `${percent(Math.min(...ratios))} … ${percent(Math.max(...ratios))}`
      const where = isTogether ? 'one process' : 'processes of their own'
      rows.push([share, where, contender, cost.toFixed(0), percent(median(ratios)), spread])
    }
  }
}
const head = ['traffic', 'contenders in', 'observers', 'ns of CPU per check']
process.stdout.write(`${markdownTable([...head, 'above none', 'least … most of sets'], rows)}\n`)
