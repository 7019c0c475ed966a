// One contender without a network, in a process of its own: its parent says when it runs, and gets what it cost.
import { cpuSeconds } from '../lib/cpu.mjs'
import { listenerOf } from './contenders.mjs'
import { driver } from './drive.mjs'

const CONNECTIONS = 64
const QUOTA = 1_000_000_000

/** @typedef {{ framework: string, name: string, redis?: string, warmUp: number }} CellInput `warmUp`: requests before those that count; 0 for a process that has just begun */

/** @type {CellInput} */
const { framework, name, redis, warmUp } = JSON.parse(process.argv[2] ?? '{}')
const listener = await listenerOf(framework, name, { quota: QUOTA, redis })
const runs = [false, true].map((dual) => driver(listener, { connections: CONNECTIONS, dual }))
for (const run of warmUp === 0 ? [] : runs) {
  const status = await run(warmUp)
  if (status !== 200) throw new Error(`${framework}, ${name}: answered ${status}`)
}

process.on('disconnect', () => process.exit(0))
process.on('message', (/** @type {{ requests: number, dual: boolean }} */ { requests, dual }) => {
  const before = cpuSeconds()
  void runs[dual ? 1 : 0]?.(requests).then(() => {
    process.send?.({ micros: ((cpuSeconds() - before) / requests) * 1e6 })
  })
})
process.send?.('ready')
