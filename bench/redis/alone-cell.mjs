// One contender with one request in flight: its parent says when it runs, and gets what it took.
import { cpuSeconds } from '../lib/cpu.mjs'
import { subjectOf } from './contenders.mjs'
import { drive } from './drive.mjs'
import { userKeys } from './keys.mjs'

const LIMIT = { burst: 50_000_000, quota: 1, window: 60_000 }

const { contender, url } = JSON.parse(process.argv[2] ?? '{}')
const subject = await subjectOf(contender, { url, ...LIMIT })
const keys = userKeys(1000).map(subject.prepare ?? ((key) => key))

process.on('disconnect', () => process.exit(0))
process.on('message', (/** @type {number} */ decisions) => {
  const before = cpuSeconds()
  drive(subject, keys, { inFlight: 1, decisions }).then(
    ({ answered, p50 }) => {
      const cpu = (1e6 * (cpuSeconds() - before)) / answered
      process.send?.({ p50: 1000 * p50, cpu })
    },
    (error) => process.send?.({ failure: String(error) }),
  )
})
process.send?.('ready')
