// One process of an application under load, as the lab starts many: `node pod.js <orders>`, then by messages.
import type { Limiter } from '../../packages/sluice/src/index.ts'
import { Load } from './load.ts'
import type { Message, Orders, Request } from './orders.ts'
import { connectTo } from './pod-clients.ts'
import { limiterBy } from './pod-limiter.ts'

async function main(orders: Orders): Promise<void> {
  // A pod ends with its lab, also while it still connects.
  process.on('disconnect', () => process.exit())
  const say = (message: Message): Promise<void> =>
    new Promise((resolve) => void process.send!(message, undefined, undefined, () => resolve()))
  const { client, target, timeout, connections } = orders
  const connected = await Promise.all(
    Array.from({ length: connections }, () => connectTo(client, target, timeout)),
  )
  const limiters = connected.map((one) =>
    // Otherwise every pod would write to the console when the store is lost, and when it is back.
    limiterBy(orders, one.client, timeout, { onEvent: () => {} }),
  )
  const load = new Load(orders, limiters, () => void say({ is: 'spent' }))

  const end = async (): Promise<void> => {
    await say({ is: 'end', record: await load.end() })
    await Promise.all(limiters.map((limiter) => limiter.close()))
    for (const { close } of connected) close()
  }

  const warm = async (): Promise<void> => {
    await Promise.all(limiters.map(answered))
    await say({ is: 'warm' })
  }

  process.on('message', (request: Request) => {
    if (request.is === 'warm') void warm()
    if (request.is === 'load') load.start()
    if (request.is === 'block') block(request.milliseconds)
    if (request.is === 'heap') void say({ is: 'heap', live: liveHeap() })
    if (request.is === 'steady')
      void say({ is: 'steady', isSteady: load.isSteadySince(request.since) })
    if (request.is === 'time') void say({ is: 'time', wallClock: Date.now() })
    if (request.is === 'end') void end()
  })
  if (orders.isImmediate === true) load.start()
  void say({ is: 'ready' })
}

/** Keys that lie on every node of a cluster: clients connect to a node when they first need it. */
const WARM = Array.from({ length: 24 }, (_, i) => `warm ${i}`)

/** Resolves when the store, and not the fallback, has answered a few times. */
async function answered(limiter: Limiter): Promise<void> {
  for (let good = 0; good < 3;) {
    const look = (key: string) => limiter.check(key, 0).catch(() => undefined)
    const decisions = await Promise.all(WARM.map(look))
    good = decisions.every((one) => one?.degraded === false) ? good + 1 : 0
    await new Promise((resolve) => void setTimeout(resolve, 20))
  }
}

function block(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

/** What is in use when the garbage is gone; needs `--expose-gc`. */
function liveHeap(): number {
  ;(globalThis as { gc?: () => void }).gc?.()
  return process.memoryUsage().heapUsed
}

const [, , orders] = process.argv
if (orders !== undefined) await main(JSON.parse(orders) as Orders)
