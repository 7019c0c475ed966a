// The process that owns the counts of a service with several workers and no Redis.
import { rmSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { memoryStore } from 'sluice'
import type { KeySource, Look } from '../store/key-source.ts'
import { memoryKeys } from '../store/memory-keys.ts'
import { addProcessMetrics } from '../metrics/process-metrics.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { addMemoryMetrics } from '../metrics/store-metrics.ts'
import { Health } from '../health/health.ts'
import { followPrimary } from './follow-primary.ts'
import type { FromOwner, StartOwner, ToOwner } from './messages.ts'
import { serveStore } from './owner-server.ts'
import { answerTo, type Question } from './questions.ts'

const tell = followPrimary<ToOwner, FromOwner>((message) => {
  if (message.type === 'start') void start(message)
  else if (message.type === 'stop') process.exit(0)
  else if (message.type === 'ask') void answerTo(message, look).then(tell)
  else tell({ type: 'counted', round: message.round, snapshot: metrics.snapshot() })
})
const metrics = new MetricRegistry()
// It takes no traffic itself, and never says that it is ready for some.
addProcessMetrics(metrics, new Health())

let keys: KeySource | undefined

/** The only question to the owner that does not come from a store. */
async function look(question: Question): Promise<Look | undefined> {
  if (question.what !== 'keys' || keys === undefined) throw new Error('not for the owner')
  return keys.look(question.places, question.at, '')
}

async function start({ socket, maxKeys }: StartOwner): Promise<void> {
  const memory = memoryStore({ maxKeys })
  addMemoryMetrics(metrics, memory)
  keys = memoryKeys(memory)
  remove(socket)
  process.once('exit', () => {
    remove(socket)
    // Nobody else is left to clear up.
    if (!process.connected) rmSync(dirname(socket), { recursive: true, force: true })
  })
  await serveStore(memory, socket)
  tell({ type: 'ready' })
}

/** An owner that was killed leaves its socket behind. */
function remove(socket: string): void {
  try {
    unlinkSync(socket)
  } catch {
    // There is none.
  }
}
