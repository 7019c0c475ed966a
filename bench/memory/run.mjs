// The in-process benchmark: `node bench/memory/run.mjs [--quick] [--only name,...] [--json file]`.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { measureInChild } from '../lib/child.mjs'
import { machine } from '../lib/machine.mjs'
import { contenders } from './contenders.mjs'
import { measureMemory } from './memory.mjs'
import { report } from './report.mjs'
import { measureSpeed } from './speed.mjs'

const full = {
  isQuick: false,
  rounds: 5,
  slices: 5,
  shares: /** @type {const} */ (['allowed', 'refused 95 %', 'refused']),
  memory: { rounds: 3, keys: 1_000_000, window: 5000 },
}
const quick = {
  isQuick: true,
  rounds: 2,
  slices: 3,
  shares: /** @type {const} */ (['allowed']),
  memory: { rounds: 2, keys: 1_000_000, window: 2000 },
}

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean' }, only: { type: 'string' }, json: { type: 'string' } },
})
const plan = options.quick ? quick : full
const names = options.only?.split(',') ?? ['']
const chosen = contenders
  .filter(({ name }) => names.some((part) => name.includes(part)))
  .filter(({ extra }) => !(options.quick && extra))
const file =
  options.json ??
  fileURLToPath(new URL(`../results/memory${options.quick ? '-quick' : ''}.json`, import.meta.url))
const progress = (/** @type {string} */ line) => void process.stderr.write(`${line}\n`)

/** @type {string[]} */
const faults = await measureInChild(new URL('./verify.mjs', import.meta.url), {
  contenders: chosen.map(({ name }) => name),
})
if (faults.length > 0) throw new Error(`these do not limit: ${faults.join('; ')}`)
progress(`${chosen.length} contenders, each really limits`)

const results = {
  machine: machine(),
  rounds: plan.rounds,
  speed: await measureSpeed(chosen, plan, progress),
  memory: await measureMemory(chosen, plan.memory, progress),
}
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
console.log(report(results))
