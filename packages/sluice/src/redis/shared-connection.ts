// The connection of all stores on one client: that client, or a second one while the first does not answer.
import type { Millis } from '../time/clock.ts'
import { startInBackground } from '../time/timers.ts'
import type { ClientAdapter, DuplicateClient, ScriptRunner } from './client-adapter.ts'
import type { RedisEnvironment } from './environment.ts'
import { HeldCalls } from './held-calls.ts'
import { storeError } from './redis-errors.ts'
import { Silence } from './silence.ts'
import { keysOfShards, shardOfSlot, slotOf } from './slot.ts'
import { SpareConnections } from './spare-connections.ts'
import { LONGEST_STANDSTILL, Standstill } from './standstill.ts'
import { writeAt } from './write-check.ts'

/** Deadlines without an answer in time after which a new connection is opened. */
const PATIENCE = 3
/** The most that this grows to, when new connections do not help either. */
const MAX_PATIENCE = 48
/**
 * Milliseconds after which a client that has no connection, and shows no new attempt to get one, is helped: its attempt
 * began while packets were lost, and hangs. A client with our settings begins one at least every 940 ms.
 */
const STUCK: Millis = 950
/** Milliseconds for which the first calls wait for all nodes of a cluster. */
const WARM_UP: Millis = 1000
/** Milliseconds between announcements of connections that have answered nothing. */
const APART: Millis = 250
/** Milliseconds after the last call for which new connections are tried. */
const WANTED: Millis = 10_000

/**
 * Receives the reply to a call. False: it came from a replica, or is no answer of the script and may belong to another call, as
 * may those that follow.
 */
type ReplyReader = (reply: unknown) => boolean

/** Runs a script by its hash; `now` is the present instant. Calls one of two functions, since one more promise for each call shows. */
export type RunHash = (
  hash: string,
  keys: readonly string[],
  args: readonly string[],
  now: Millis,
  answered: ReplyReader,
  failed: (error: unknown) => void,
) => void

/** A client of which the calls are watched. */
interface Link {
  readonly client: ClientAdapter
  readonly silence: Silence
  /** Whether a reply was none that counts. From then on none does, until the user's client has shown that it is well. */
  isDoubtful?: boolean
  /** Set if the connection is our own. */
  readonly spare?: DuplicateClient
}

/** The connection of all stores that use one client. */
export class SharedConnection {
  /** Run whenever there is a new connection. */
  readonly reachable: Set<() => void> = new Set()
  /** The longest deadline of its stores. */
  private timeout: Millis = 0
  private stores = 0
  private readonly own: Link
  private current: Link
  private readonly held: HeldCalls
  private readonly spares: SpareConnections
  /** Deadlines to wait for a shard, where it is more than {@link PATIENCE}. */
  private readonly patience = new Map<number, number>()
  private wasReady = false
  /** Whether a call was answered since a new connection was last announced, and when that was. */
  private isProven = true
  private announcedAt: Millis = 0
  /** When the first call came or the first connection stood. */
  private startedAt: Millis | undefined
  /** Counts from the first call to the first answer. */
  readonly standstill: Standstill
  /** When the first calls no longer wait for all nodes. */
  private warmBy: Millis | undefined
  /** When the connection is next checked, and the timer for that. */
  private lookAt: Millis = Infinity
  private look: unknown
  /** A key of each shard that had not answered when the second connection came. */
  private silentKeys: readonly string[] = []
  private sentAt: Millis = 0
  private eventAt: Millis
  private readonly environment: RedisEnvironment

  /** Reports the first call by a client that is not open; undefined once it was reported. */
  private onNotOpen: (() => void) | undefined

  constructor(client: ClientAdapter, environment: RedisEnvironment, onNotOpen?: () => void) {
    const { clock, timers, reconnectDelay } = environment
    this.environment = environment
    this.onNotOpen = onNotOpen
    this.own = { client, silence: new Silence() }
    this.current = this.own
    this.eventAt = clock()
    this.held = new HeldCalls(clock)
    this.standstill = new Standstill(clock, timers)
    this.spares = new SpareConnections({
      open: () => client.duplicate() ?? this.trust(),
      isWanted: () => this.isLost() && clock() - this.sentAt <= WANTED,
      onReady: (spare) => this.adopt(spare),
      // Twice in the time in which a client tries once: an attempt that began too early is lost.
      delay: (attempt) => reconnectDelay(attempt) / 2,
      timers,
    })
    // No listener for `error`: it would hide that the application has none.
    client.on(['connecting', 'reconnecting', 'node-reconnecting'], () => this.noteEvent())
    // A cluster of node-redis has only the other two.
    client.on(client.cluster ? ['ready', 'connect', 'node-ready'] : ['ready'], () => this.ready())
    client.on(['end'], () => this.closeSpares())
  }

  readonly run: RunHash = (hash, keys, args, now, answered, failed) =>
    this.send('evalsha', hash, keys, args, now, answered, failed)

  readonly eval: ScriptRunner['eval'] = (script, keys, args) =>
    new Promise((resolve, reject) => {
      const answered = (reply: unknown): boolean => {
        resolve(reply)
        return true
      }
      this.send('eval', script, keys, args, this.environment.clock(), answered, reject)
    })

  /** Another store uses it, with that deadline. Returns what ends that. */
  join(timeout: Millis): () => void {
    this.timeout = Math.max(this.timeout, timeout)
    this.stores += 1
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      this.stores -= 1
      if (this.stores === 0) this.closeSpares()
    }
  }

  /** Closes what was opened beside the user's client, and goes back to that one. */
  private closeSpares(): void {
    this.spares.stop()
    const { spare } = this.current
    this.current = this.own
    spare?.close()
  }

  private send(
    command: keyof ScriptRunner,
    script: string,
    keys: readonly string[],
    args: readonly string[],
    now: Millis,
    answered: ReplyReader,
    failed: (error: unknown) => void,
  ): void {
    this.sentAt = now
    if (!this.wasReady && this.mustHold())
      return this.hold(command, script, keys, args, answered, failed)
    if (this.current !== this.own && !this.current.client.isReady()) this.restore()
    const link = this.current
    const shard = link.client.cluster ? shardOfSlot(slotOf(keys[0]!)) : 0
    const since = link.silence.sent(shard, keys[0] ?? '', now)
    if (now - since >= this.timeout) this.suspect(since + this.patienceWith(shard) - now)
    let answer: Promise<unknown>
    try {
      answer = link.client[command](script, keys, args)
    } catch (error) {
      link.silence.ended(shard, 'disconnected')
      return failed(error)
    }
    answer.then(
      (reply) => {
        if (!answered(reply)) link.isDoubtful = true
        if (link.isDoubtful === true) return link.silence.ended(shard, 'unanswered')
        this.isProven = true
        this.ended(link, shard, now)
      },
      (error: unknown) => {
        this.failed(link, shard, error, now)
        failed(error)
      },
    )
  }

  /** Keeps a call until the client has its first connection. */
  private hold(
    command: keyof ScriptRunner,
    script: string,
    keys: readonly string[],
    args: readonly string[],
    answered: ReplyReader,
    failed: (error: unknown) => void,
  ): void {
    this.helpWhenStuck()
    const send = (): void =>
      this.send(command, script, keys, args, this.environment.clock(), answered, failed)
    this.held.add(send, failed, this.timeout + LONGEST_STANDSTILL)
  }

  /** While a client has never been connected, its calls wait; the deadline that each carries keeps that harmless. */
  private mustHold(): boolean {
    if (this.current !== this.own) return false
    if (this.own.client.isClosed()) {
      this.onNotOpen?.()
      this.onNotOpen = undefined
      return false
    }
    this.startedAt ??= this.environment.clock()
    // Not in a cluster: a request over several nodes is given up before its calls are.
    if (!this.own.client.cluster) this.standstill.start()
    this.own.client.wake(() => this.ready())
    this.wasReady = this.isWarm()
    return !this.wasReady
  }

  /** Whether calls may leave; a node of a cluster that does not connect holds up the others for a while only. */
  private isWarm(): boolean {
    const { client } = this.own
    if (!client.isReady()) return false
    this.warmBy ??= this.environment.clock() + WARM_UP
    return client.isWarm() || this.environment.clock() >= this.warmBy
  }

  /** The server answered a call that was sent at an instant. */
  private ended(link: Link, shard: number, sentAt: Millis): void {
    const isInTime = this.environment.clock() - sentAt <= this.timeout
    link.silence.ended(shard, isInTime ? 'in-time' : 'late')
    if (isInTime && this.patience.size > 0) this.patience.delete(shard)
  }

  private failed(link: Link, shard: number, error: unknown, sentAt: Millis): void {
    const { code } = storeError(error)
    if (code === 'store-timeout') return link.silence.ended(shard, 'unanswered')
    if (code !== 'store-unreachable') return this.ended(link, shard, sentAt)
    link.silence.ended(shard, 'disconnected')
    this.helpWhenStuck()
  }

  /** Opens a new connection if the client is stuck without one, now or when it will be. */
  private helpWhenStuck(): void {
    if (this.isLost()) this.spares.start()
    // While the breaker is open, few calls come that would notice.
    else this.suspect(this.eventAt + STUCK - this.environment.clock())
  }

  /** Checks the connection when the patience is over, but at least one deadline from now: after a pause of this process, answers are still unread. */
  private suspect(after: Millis): void {
    const { clock, timers } = this.environment
    const wait = Math.max(after, this.timeout)
    const at = clock() + wait
    if (this.lookAt <= at) return
    timers.stop(this.look)
    this.lookAt = at
    const look = (): void => {
      this.lookAt = Infinity
      if (this.isLost()) this.spares.start()
      // The client has begun another attempt, which may hang as well.
      else if (!this.current.client.isReady() && clock() - this.sentAt <= WANTED)
        this.suspect(this.eventAt + STUCK - clock())
    }
    this.look = startInBackground(timers, look, wait)
  }

  /** Whether a new connection is wanted: nothing was heard, or the client is stuck without a connection. */
  private isLost(): boolean {
    const { client, silence } = this.current
    if (this.stores === 0 || this.own.client.isClosed()) return false
    const now = this.environment.clock()
    if (silence.silent(now, this.patienceWith).length > 0) return true
    return !client.isReady() && (now - this.eventAt >= STUCK || this.isLateCluster(now))
  }

  /**
   * Whether a cluster has not been complete for as long as a silent shard is waited for, since the first call. One of the
   * connections that it has may be dead, which no call can show before the last node is there.
   */
  private isLateCluster(now: Millis): boolean {
    if (this.wasReady || this.startedAt === undefined || !this.own.client.cluster) return false
    return now - this.startedAt >= PATIENCE * this.timeout
  }

  private readonly patienceWith = (shard: number): Millis =>
    (this.patience.get(shard) ?? PATIENCE) * this.timeout

  /** Uses a new connection, for as long as the user's client does not answer. */
  private adopt(spare: DuplicateClient): void {
    const { current } = this
    const silent = current.silence.silent(this.environment.clock(), this.patienceWith)
    for (const shard of silent) {
      const deadlines = this.patience.get(shard) ?? PATIENCE
      this.patience.set(shard, Math.min(2 * deadlines, MAX_PATIENCE))
    }
    this.current = { client: spare.adapter, silence: new Silence(), spare }
    this.retire(current.spare)
    // Of a cluster that was never complete, every node is asked before it is used.
    this.silentKeys = this.isLateCluster(this.environment.clock())
      ? keysOfShards()
      : silent.map((shard) => current.silence.keyOf(shard))
    this.returnTo(this.current)
    this.held.release()
    this.announce()
  }

  private returnTo(spare: Link): void {
    if (spare !== this.own && this.silentKeys.length > 0)
      void this.returnWhenAnswered(spare, this.silentKeys)
  }

  /** Goes back to the user's client as soon as all shards answer in time: it only hung, or its packets were late. */
  private async returnWhenAnswered(spare: Link, keys: readonly string[]): Promise<void> {
    const { clock, timers } = this.environment
    while (this.current === spare) {
      const sentAt = clock()
      const answers = await Promise.all(keys.map((key) => writeAt(key, this.own.client, sentAt)))
      // Without a connection the client will say when it is ready.
      if (answers.includes('unanswered')) return
      const isWell = answers.every((answer) => answer === 'taken')
      if (isWell && clock() - sentAt <= this.timeout && this.current === spare) this.restore()
      // A replica may become the primary again.
      if (!isWell)
        await new Promise<void>((resolve) => {
          startInBackground(timers, resolve, MAX_PATIENCE * this.timeout)
        })
    }
  }

  /** A client that cannot be duplicated has to do. */
  private trust(): undefined {
    this.own.isDoubtful = false
  }

  private restore(): void {
    const { spare } = this.current
    this.current = this.own
    this.own.silence.reset()
    this.trust()
    this.retire(spare)
  }

  /** Closes a connection of ours once the calls on it have ended. */
  private retire(spare: DuplicateClient | undefined): void {
    if (spare !== undefined)
      startInBackground(this.environment.timers, () => spare.close(), 2 * this.timeout)
  }

  /** The user's client has connected, or a node of its cluster, which may be too early for commands. */
  private ready(): void {
    if (!this.wasReady && this.mustHold()) return
    if (!this.own.client.isReady()) return
    this.eventAt = this.environment.clock()
    // The node that connected may not be the one that does not answer.
    if (this.own.client.cluster) this.returnTo(this.current)
    else {
      this.spares.stop()
      this.restore()
    }
    this.held.release()
    this.announce()
  }

  /** The client shows that it tries to connect. */
  private noteEvent(): void {
    this.eventAt = this.environment.clock()
  }

  /**
   * Reports that there is a new connection; at most once in {@link APART} while connections end before they have answered.
   * A server may end each one at its first call, and the listeners would try again at once each time.
   */
  private announce(): void {
    const now = this.environment.clock()
    if (!this.isProven && now - this.announcedAt < APART) return
    this.isProven = false
    this.announcedAt = now
    for (const run of this.reachable) run()
  }
}
