// The state of the Redis server: memory, evictions and its clock, read every ten seconds.
import type { Cluster, Redis } from 'ioredis'
import { systemClock, type Millis } from 'sluice'

/** Milliseconds between two reads. */
const LOOK_EVERY: Millis = 10_000
/** How long a read may take while a caller waits for it. */
const DEADLINE: Millis = 1000

/** One read. Over several nodes: sums, and the largest clock offset. */
export interface RedisSample {
  readonly usedMemory: number
  /** 0: as much as there is. */
  readonly maxMemory: number
  readonly evictedKeys: number
  /** The first node's `maxmemory-policy`. */
  readonly evictionPolicy: string
  readonly version: string
  /** Server minus process, in milliseconds; half of the round trip is taken off. */
  readonly clockOffset: Millis
  /** Whether it runs scripts for its user. */
  readonly scripts: boolean
}

/** Reads the state of the server from time to time. A server that refuses INFO has no state. */
export class RedisServerInfo {
  /** The last read; undefined before the first success. */
  latest: RedisSample | undefined
  private readonly client: Redis | Cluster
  private readonly timer: NodeJS.Timeout

  constructor(client: Redis | Cluster) {
    this.client = client
    client.once('ready', () => void this.look())
    this.timer = setInterval(() => void this.look(), LOOK_EVERY)
    this.timer.unref()
  }

  /** Looks now; returns whether the server has said how it is. Keeps the last sample when it has not. */
  async look(): Promise<boolean> {
    try {
      const { client } = this
      const nodes = client.isCluster ? (client as Cluster).nodes('master') : [client as Redis]
      const samples = await Promise.all(nodes.map(sampleOf))
      if (samples.length > 0) this.latest = samples.reduce(together)
      return samples.length > 0
    } catch {
      // Unreachable, or not permitted: metrics and the breaker say the first, the second is no fault.
      return false
    }
  }

  /** The same, and false for a server that has not answered after a second. */
  async lookSoon(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), DEADLINE)
    })
    const answer = await Promise.race([this.look(), late])
    clearTimeout(timer)
    return answer
  }

  close(): void {
    clearInterval(this.timer)
  }
}

async function sampleOf(node: Redis): Promise<RedisSample> {
  const info = `${await node.info('memory')}\n${await node.info('stats')}\n${await node.info('server')}`
  const start = systemClock()
  const [seconds, micros] = await node.time()
  const end = systemClock()
  const scripts = await runsScripts(node)
  const field = (name: string): string =>
    new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? ''
  return {
    usedMemory: Number(field('used_memory')),
    maxMemory: Number(field('maxmemory')),
    evictedKeys: Number(field('evicted_keys')),
    evictionPolicy: field('maxmemory_policy'),
    version: field('redis_version'),
    clockOffset: Math.round(Number(seconds) * 1000 + Number(micros) / 1000 - (start + end) / 2),
    scripts,
  }
}

/** Whether a server runs a script; not one that lacks the command, or whose user may not call it. */
async function runsScripts(node: Redis): Promise<boolean> {
  try {
    await node.eval('return 1', 0)
    return true
  } catch (error) {
    if (/^(?:NOPERM|ERR unknown command)/.test((error as Error).message)) return false
    throw error
  }
}

function together(a: RedisSample, b: RedisSample): RedisSample {
  return {
    ...a,
    usedMemory: a.usedMemory + b.usedMemory,
    maxMemory: a.maxMemory + b.maxMemory,
    evictedKeys: a.evictedKeys + b.evictedKeys,
    clockOffset: Math.abs(a.clockOffset) >= Math.abs(b.clockOffset) ? a.clockOffset : b.clockOffset,
    scripts: a.scripts && b.scripts,
  }
}
