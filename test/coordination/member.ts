// One process of a fleet under load: `node member.js <orders>`, then by messages.
import { Redis } from 'ioredis'
import { sampler, seededRandom, zipfShares } from '../../bench/lib/random.mjs'
import { withCoordination } from '../../packages/sluice/src/coordination/index.ts'
import { createLimiter, type Decision } from '../../packages/sluice/src/index.ts'
import { ioredisOptions, redisStore } from '../../packages/sluice/src/redis/index.ts'
import type { Answer, Orders, Request } from './orders.ts'
import { RecordWriter, sharedTime } from './record.ts'

/** Requests on their way to the store at most; any others are not sent. */
const MAX_UNDER_WAY = 64
/** Milliseconds of demand that are made up for after the process was stopped. */
const MAX_BACKLOG = 200
const FACTORS = [0.1, 0.1, 0.5, 1, 4]
/** Demand that is off and on: milliseconds from one burst to the next, and of a burst. */
const PERIOD = 2000
const ON = 500
const MEAN_FACTOR = FACTORS.reduce((a, b) => a + b) / FACTORS.length

async function main(orders: Orders): Promise<void> {
  // A member ends with its fleet.
  process.on('disconnect', () => process.exit())
  const say = (message: Answer): void => void process.send!(message)
  const { mode, bucket, life, interval, demand, isBursty, isOffAndOn } = orders
  const { keys, port, seed, file } = orders
  const { sentinels, name } = orders
  const where =
    sentinels === undefined
      ? { host: '127.0.0.1', port }
      : { sentinels: [...sentinels], name: name! }
  const client = new Redis(ioredisOptions(where))
  client.on('error', () => {})
  const store = withCoordination(redisStore(client, { timeout: 500, onWarning: () => {} }), {
    life,
    interval,
  })
  const { burst, rate } = bucket
  const limit = { algorithm: 'token-bucket', quota: rate * 1000, window: '1s', burst } as const
  const rule = { name: 'api', by: ['user'], limit, onStoreFailure: 'closed' } as const
  const limiter = createLimiter({
    policy: { name: 'fleet', rules: [{ ...rule, coordination: mode }] },
    store,
    resilience: { onEvent: () => {} },
  })
  const record = new RecordWriter(file)
  const random = seededRandom(seed)
  const nextKey = sampler(zipfShares(keys, 1.1), random)
  const underWay = new Set<Promise<void>>()
  const missed = { refused: 0, undecided: 0, unsent: 0 }
  let isWatched = false

  /** Records what was decided between the instants at which the request was sent and answered. */
  const note = (key: number, decision: Decision, sent: number, sentWall: number): void => {
    if (!decision.allowed) {
      missed[decision.degraded ? 'undecided' : 'refused'] += 1
      if (decision.degraded) return
      const refused = { key, earliest: sent, latest: sharedTime() }
      record.write({ ...refused, isLeased: false, isRefused: true })
      return
    }
    const wall = Date.now()
    let [earliest, latest] = [sent, sharedTime()]
    const { source } = decision.outcomes[0]!
    const isLeased = source === 'lease' || source === 'memory'
    if (!isLeased) {
      // The store tells its time in whole milliseconds, which narrows it down.
      earliest = Math.max(earliest, sent + decision.at - sentWall - 1)
      latest = Math.max(earliest, Math.min(latest, latest - (wall - decision.at - 1)))
    }
    record.write({ key, earliest, latest, isLeased, isRefused: false })
    if (isWatched && (isLeased || mode === 'strict')) {
      isWatched = false
      say({ is: 'spend' })
    }
  }

  const request = (): void => {
    const key = nextKey()
    const attributes = { user: `user ${key}` }
    const [sent, sentWall] = [sharedTime(), Date.now()]
    const decision = limiter.checkNow(attributes)
    if (decision !== undefined) return note(key, decision, sent, sentWall)
    if (underWay.size >= MAX_UNDER_WAY) {
      missed.unsent += 1
      return undefined
    }
    const answered = limiter.check(attributes).then((later) => {
      note(key, later, sent, sentWall)
      underWay.delete(answered)
    })
    underWay.add(answered)
  }

  let timer: NodeJS.Timeout | undefined
  let multiple = 1
  const load = (): void => {
    let last = sharedTime()
    let phaseEnd = last
    let factor = 1
    let due = 0
    const tick = (): void => {
      const now = sharedTime()
      if (isBursty && now >= phaseEnd) {
        factor = FACTORS[Math.floor(random() * FACTORS.length)]! / MEAN_FACTOR
        phaseEnd = now + 250
      }
      if (isOffAndOn === true) factor = now % PERIOD < ON ? PERIOD / ON : 0
      due += Math.min(now - last, MAX_BACKLOG) * demand * multiple * factor
      last = now
      for (; due >= 1; due--) request()
      timer = setTimeout(tick, 2)
    }
    tick()
  }

  const warm = async (): Promise<void> => {
    while ((await limiter.check({ user: 'warm' })).degraded) await pause(20)
    say({ is: 'warm' })
  }

  const end = async (): Promise<void> => {
    clearTimeout(timer)
    await Promise.all(underWay)
    await limiter.close()
    await store.close()
    client.disconnect()
    say({ is: 'end', missed })
  }

  process.on('message', (message: Request) => {
    if (message.is === 'warm') void warm()
    if (message.is === 'load') {
      multiple = message.factor
      if (timer === undefined) load()
    }
    if (message.is === 'spend') isWatched = true
    if (message.is === 'until')
      void pause(message.at - sharedTime()).then(() => say({ is: 'until' }))
    if (message.is === 'end') void end()
  })
  say({ is: 'ready' })
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds))
}

const [, , orders] = process.argv
if (orders !== undefined) await main(JSON.parse(orders) as Orders)
