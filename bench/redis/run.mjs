// The Redis benchmark: `node bench/redis/run.mjs [--quick] [--only name,...] [--json file]`.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { measureInChild } from '../lib/child.mjs'
import { pinToSecondCore } from '../lib/cores.mjs'
import { machine } from '../lib/machine.mjs'
import { startRedisServer } from '../lib/redis-server.mjs'
import { aloneNames, measureAlone } from './alone.mjs'
import { contenders, ONE_LIMIT } from './contenders.mjs'
import { measureMemory } from './memory.mjs'
import { report } from './report.mjs'
import { measureSpeed } from './speed.mjs'

const full = { rounds: 7, share: 1, minutes: 15, keys: 100_000, turns: 60 }
/** Ends within four minutes, with fewer rounds where they are slow. */
const quick = { rounds: 3, share: 0.4, minutes: 3.5, keys: 30_000, turns: 24 }
/** For SLOWLOG, in microseconds. */
const SLOW = '1000'

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean' }, only: { type: 'string' }, json: { type: 'string' } },
})
const plan = options.quick ? quick : full
const end = Date.now() + plan.minutes * 60_000
const parts = options.only?.split(',') ?? ['']
const names = contenders
  .filter(({ extra }) => !(options.quick && extra))
  .map(({ name }) => name)
  .filter((name) => parts.some((part) => name.includes(part)))
const file =
  options.json ??
  fileURLToPath(new URL(`../results/redis${options.quick ? '-quick' : ''}.json`, import.meta.url))
/** Under another client the same keys would be counted again. */
const isCounted = (/** @type {string} */ name) =>
  contenders.some(
    (one) => one.name === name && !one.extra && (!options.quick || name === ONE_LIMIT),
  )
const isAlone = (/** @type {string} */ name) => aloneNames.includes(name)
const progress = (/** @type {string} */ line) => void process.stderr.write(`${line}\n`)

const core = pinToSecondCore()
const server = await startRedisServer({ core, args: ['--slowlog-log-slower-than', SLOW] })
const { url } = server
try {
  /** @type {string[]} */
  const faults = await measureInChild(new URL('./verify.mjs', import.meta.url), {
    contenders: names,
    url,
  })
  if (faults.length > 0) throw new Error(`these do not limit: ${faults.join('; ')}`)
  progress(`${names.length} contenders, each really limits`)

  /** @type {string[]} */
  const failures = []
  /** A part that fails must not cost what the others have measured. @template T @param {string} name @param {Promise<T[]>} part */
  const kept = (name, part) =>
    part.catch((/** @type {unknown} */ error) => {
      failures.push(`${name}: ${String(error)}`)
      return /** @type {T[]} */ ([])
    })
  const [own, single] = [names.filter(isCounted), names.filter(isAlone)]
  const setting = { ...plan, end, url, withServer: !options.quick }
  const results = {
    machine: machine(),
    alone: await kept('one in flight', measureAlone(single, setting, progress, failures)),
    memory: await kept('memory', measureMemory(own, setting, progress)),
    speed: await kept('speed', measureSpeed(names, setting, progress, failures)),
    failures,
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
  console.log(report(results))
  if (failures.length > 0) process.exitCode = 1
} finally {
  server.stop()
}
