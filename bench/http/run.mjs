// The HTTP benchmark: `node bench/http/run.mjs [--quick] [--only name,...] [--added] [--turns n] [--json file]`. `--added`: only what
// each adds without a network, neither cold processes nor sockets.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { measureInChild } from '../lib/child.mjs'
import { pinToSecondCore } from '../lib/cores.mjs'
import { machine } from '../lib/machine.mjs'
import { startRedisServer } from '../lib/redis-server.mjs'
import { contenders } from './contenders.mjs'
import { report } from './report.mjs'
import { measureSpeed } from './speed.mjs'
import { measureTcp } from './tcp.mjs'

const full = {
  speed: { turns: 100, warmUp: 20_000, millis: 10, starts: 5 },
  tcp: { rounds: 2, seconds: 2, isQuick: false },
}
const quick = {
  speed: { turns: 20, warmUp: 4000, millis: 5, starts: 2 },
  tcp: { rounds: 1, seconds: 1, isQuick: true },
}

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    only: { type: 'string' },
    added: { type: 'boolean' },
    turns: { type: 'string' },
    json: { type: 'string' },
  },
})
const plan = options.quick ? quick : full
const speedPlan = {
  ...plan.speed,
  turns: Number(options.turns ?? plan.speed.turns),
  ...(options.added ? { starts: 0 } : {}),
}
const parts = options.only?.split(',') ?? ['']
const chosen = contenders.filter(({ framework, name }) =>
  parts.some((part) => `${framework} ${name}`.includes(part)),
)
const file =
  options.json ??
  fileURLToPath(new URL(`../results/http${options.quick ? '-quick' : ''}.json`, import.meta.url))
const progress = (/** @type {string} */ line) => void process.stderr.write(`${line}\n`)

// Not with sockets: wrk needs the other core.
const core = options.added ? pinToSecondCore() : undefined
const server = await startRedisServer({ core })
try {
  const names = chosen.map(({ framework, name, kind }) => ({ framework, name, kind }))
  const verify = new URL('./verify.mjs', import.meta.url)
  /** @type {string[]} */
  const faults = [
    ...(await measureInChild(verify, { contenders: names })),
    ...(await measureInChild(verify, {
      contenders: names.filter(({ kind }) => kind !== 'floor'),
      redis: server.url,
    })),
  ]
  if (faults.length > 0) throw new Error(`these do not limit: ${faults.join('; ')}`)
  progress(`${chosen.length} contenders, each really limits`)

  const results = {
    machine: machine(),
    turns: speedPlan.turns,
    speed: await measureSpeed(chosen, { ...speedPlan, redis: server.url }, progress),
    tcp: options.added
      ? []
      : await measureTcp(chosen, { ...plan.tcp, redis: server.url }, progress),
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
  console.log(report(results))
} finally {
  server.stop()
}
process.exit()
