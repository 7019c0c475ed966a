// One measurement in a process of its own: decisions by CPU time and by wall time, and how long single ones take.
import { inputFromParent, reportToParent } from '../lib/child.mjs'
import { cpuSeconds } from '../lib/cpu.mjs'
import { contender } from './contenders.mjs'

const TOGETHER = 256
const SINGLE = 20_000
const WARM_UP = 500
const LENGTH = 1000

/** @type {{ cell: import('./contenders.mjs').Cell, port: number }} */
const { cell, port } = inputFromParent()
const { now, later } = contender(cell.kind, port)
const turn = () => new Promise((resolve) => void setImmediate(resolve))

/** One decision as an application makes it. */
async function decide() {
  return (cell.atOnce ? now() : undefined) ?? (await later())
}

/** Many decisions, then one turn of the event loop. @returns {Promise<number>} those that were refused */
async function batch() {
  let refused = 0
  if (cell.atOnce) {
    for (let i = 0; i < TOGETHER; i++) {
      const decision = now() ?? (await later())
      if (!decision.allowed) refused++
    }
  } else {
    const all = []
    for (let i = 0; i < TOGETHER; i++) all.push(later())
    for (const decision of await Promise.all(all)) if (!decision.allowed) refused++
  }
  await turn()
  return refused
}

/** @param {number} length in ms */
async function runFor(length) {
  const [began, cpu] = [performance.now(), cpuSeconds()]
  let [decisions, refused] = [0, 0]
  while (performance.now() - began < length) {
    refused += await batch()
    decisions += TOGETHER
  }
  const seconds = (performance.now() - began) / 1000
  return { decisions, refused, seconds, cpu: cpuSeconds() - cpu }
}

// A server that is used for the first time leases nothing for one life.
while ((await later()).degraded) await turn()
await runFor(WARM_UP)
const { decisions, refused, seconds, cpu } = await runFor(LENGTH)

const times = new Float64Array(cell.kind === 'strict' ? SINGLE / 10 : SINGLE)
for (let i = 0; i < times.length; i++) {
  const began = performance.now()
  await decide()
  times[i] = performance.now() - began
  if (i % 64 === 0) await turn()
}
const oneByOne = 1000 / (times.reduce((sum, one) => sum + one, 0) / times.length)
times.sort()
reportToParent({
  oneByOne,
  perCpuSecond: decisions / cpu,
  perSecond: decisions / seconds,
  p99: times[Math.floor(times.length * 0.99)],
  decisions,
  refused,
})
