// Starts a primary with replicas and the sentinels that watch over them, and lets a test fail over.
import { type RedisServer, startRedis } from './redis-server.ts'
import type { Address } from './resp.ts'
import { startAll } from './start-all.ts'
import { until } from './until.ts'

export interface SentinelOptions {
  readonly replicas?: number
  readonly sentinels?: number
  readonly binary?: string
}

export interface RedisSentinel {
  /** The name by which clients ask for the primary. */
  readonly name: string
  readonly sentinels: readonly RedisServer[]
  /** The primary of the beginning, then its replicas; which is which changes with `failover()`. */
  readonly servers: readonly RedisServer[]
  /** The present primary: the sentinels agree on it and it takes writes. Waits for a failover under way. */
  readonly primary: () => Promise<RedisServer>
  /**
   * Kills the primary and waits until a replica took over. Gives the time that took, in ms. The dead server stays dead;
   * its `restart()` brings it back as a replica.
   */
  readonly failover: () => Promise<number>
  /** Ends the replication to all replicas for good; a failover still takes one of them. */
  readonly cutOff: () => Promise<void>
  readonly stop: () => Promise<void>
}

const name = 'sluice'
const timeout = 20_000
/** Milliseconds of silence after which sentinels call a server down. */
const CALM = 60_000
const QUICK = 500

/** Starts all of them and resolves when every sentinel knows the others and the replicas, so that a failover can work. */
export async function startSentinel(options: SentinelOptions = {}): Promise<RedisSentinel> {
  const { replicas = 1, sentinels: count = 3 } = options
  const binary = options.binary === undefined ? {} : { binary: options.binary }
  const started: RedisServer[] = []
  const stop = async () => {
    await Promise.all(started.map((server) => server.stop()))
  }
  try {
    const first = await startRedis(binary)
    started.push(first)
    const args = ['--replicaof', first.host, `${first.port}`]
    started.push(...(await startAll(repeat(replicas, { ...binary, args }))))
    const servers = [...started]
    await Promise.all(servers.slice(1).map(isAttached))
    const config = sentinelConfig(first, Math.floor(count / 2) + 1)
    const sentinels = await startAll(repeat(count, { ...binary, config, args: ['--sentinel'] }))
    started.push(...sentinels)
    await Promise.all(sentinels.map((sentinel) => knowsAll(sentinel, replicas, count)))

    const primary = () => agreedPrimary(sentinels, servers)
    return {
      name,
      sentinels,
      servers,
      primary,
      async failover() {
        const old = await primary()
        await Promise.all(sentinels.map((sentinel) => setPatience(sentinel, QUICK)))
        const start = performance.now()
        old.kill('SIGKILL')
        await agreedPrimary(
          sentinels,
          servers.filter((server) => server !== old),
        )
        const took = performance.now() - start
        await Promise.all(sentinels.map((sentinel) => setPatience(sentinel, CALM)))
        return took
      },
      async cutOff() {
        await Promise.all(servers.slice(1).map((replica) => detach(replica, first)))
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const repeat = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)

function sentinelConfig({ host, port }: Address, quorum: number): string {
  return `
sentinel monitor ${name} ${host} ${port} ${quorum}
sentinel down-after-milliseconds ${name} ${CALM}
sentinel failover-timeout ${name} 2000
`
}

/** Only while a failover is wanted are sentinels quick: on a busy machine a healthy primary may be silent for a while. */
async function setPatience(sentinel: RedisServer, millis: number) {
  await until('the sentinel has its patience', timeout, () =>
    sentinel.cli('SENTINEL', 'SET', name, 'down-after-milliseconds', `${millis}`),
  )
}

async function isAttached(replica: RedisServer) {
  await until('the replica has its data', timeout, async () =>
    (await replica.cli('INFO', 'replication')).includes('master_link_status:up'),
  )
}

/**
 * Makes a replica of it whose link never comes up. A link that was up and then lost would not do: sentinels do not
 * promote a replica whose link has been down for longer than ten times `down-after-milliseconds`, and how long a test
 * needs until the failover depends on the machine.
 */
async function detach(replica: RedisServer, { host, port }: Address) {
  await until('the replica is cut off', 5000, async () => {
    await replica.cli('CONFIG', 'SET', 'masteruser', 'nobody', 'masterauth', 'nothing')
    await replica.cli('REPLICAOF', 'NO', 'ONE')
    await replica.cli('REPLICAOF', host, `${port}`)
    return (await replica.cli('INFO', 'replication')).includes('master_link_status:down')
  })
}

async function knowsAll(sentinel: RedisServer, replicas: number, sentinels: number) {
  await until('the sentinel knows all others', timeout, async () => {
    const info = await sentinel.cli('INFO', 'sentinel')
    return info.includes('status=ok,') && info.includes(`slaves=${replicas},sentinels=${sentinels}`)
  })
}

/** The one of the servers that all sentinels name as the primary and that says so of itself. */
function agreedPrimary(sentinels: readonly RedisServer[], servers: readonly RedisServer[]) {
  return until('the sentinels agree on a primary', timeout, async () => {
    const named = await Promise.all(
      sentinels.map((sentinel) =>
        sentinel.cli<string[]>('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name),
      ),
    )
    const ports = new Set(named.map(([, port]) => Number(port)))
    const found = servers.find((server) => ports.size === 1 && ports.has(server.port))
    if (!found) return undefined
    const [role] = await found.cli<string[]>('ROLE')
    return role === 'master' && found
  })
}
