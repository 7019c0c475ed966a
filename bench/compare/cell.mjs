// One process that does one work with one checkout, and reports the processor time of an operation, turn by turn.
import { pathToFileURL } from 'node:url'
import { inputFromParent, reportToParent } from '../lib/child.mjs'
import { cpuSeconds } from '../lib/cpu.mjs'
import { works } from './works.mjs'

const { folder, work, turns } = inputFromParent()
/** @param {string} path @returns {Promise<any>} */
const load = (path) => import(pathToFileURL(`${folder}/packages/${path}`).href)

const start = works[work]
if (start === undefined) throw new Error(`no work ${work}`)
const { operations, turn, cpu = cpuSeconds, stop } = await start(load, folder)
// Two turns to compile the code and to fill the store.
await turn()
await turn()
/** Nanoseconds. @type {number[]} */
const times = []
for (let i = 0; i < turns; i++) {
  const before = cpu()
  await turn()
  times.push(((cpu() - before) / operations) * 1e9)
}
await stop?.()
reportToParent(times)
