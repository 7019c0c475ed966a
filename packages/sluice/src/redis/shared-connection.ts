// The connection of all stores on one client: that client, or a second one while the first does not answer.
import type { Millis } from '../time/clock.ts'
import { startInBackground } from '../time/timers.ts'
import type { ClientAdapter, DuplicateClient } from './client-adapter.ts'
import type { RedisEnvironment } from './environment.ts'
import { WaitingCalls } from './waiting-calls.ts'
import { storeError } from './redis-errors.ts'
import type { Script } from './script.generated.ts'
import { MAX_PATIENCE, Patience, PATIENCE, ShardCalls } from './shard-calls.ts'
import { keysOfShards, shardOfSlot, slotOf } from './slot.ts'
import { SpareConnections } from './spare-connections.ts'
import { STARTUP_TIME, ProcessPauses } from './process-pauses.ts'
import { writeAt } from './write-check.ts'

/**
 * Milliseconds after which a client that has no connection, and shows no new attempt to get one, is helped: its attempt
 * began while packets were lost, and hangs. A client with our settings begins one at least every 940 ms.
 */
const STUCK_AFTER: Millis = 950
/** Milliseconds for which the first calls wait for all nodes of a cluster. */
const WARM_UP: Millis = 1000
/** Milliseconds between reports of connections that have answered nothing. */
const MIN_REPORT_GAP: Millis = 250
/** Milliseconds after the last call for which new connections are tried. */
const RECONNECT_FOR: Millis = 10_000

/** A call of a script. */
export interface ScriptCall {
  readonly script: Script
  /** Whether the script itself is sent, and not its hash. */
  readonly isByText: boolean
  /** The keys, all of one shard. */
  readonly names: readonly string[]
  readonly args: readonly string[]
}

/** Receives what came of calls. An object that many calls share, since one more promise or function for each call shows. */
export interface CallReceiver<C extends ScriptCall> {
  /**
   * Takes the reply. Returns false if it came from a replica, or is no answer of the script and may belong to another
   * call, as may those that follow.
   */
  answered(call: C, reply: unknown): boolean
  failed(call: C, error: unknown): void
}

/** Runs a script; `now` is the present instant. */
export type RunScript = <C extends ScriptCall>(
  call: C,
  receiver: CallReceiver<C>,
  now: Millis,
) => void

/** A client of which the calls are watched. */
interface WatchedClient {
  readonly client: ClientAdapter
  readonly calls: ShardCalls
  /** Whether a reply was no answer to its call. From then on no reply counts, until the user's client is trusted again. */
  isDistrusted?: boolean
  /** Set if the connection is our own. */
  readonly spare?: DuplicateClient
}

/** The connection of all stores that use one client. */
export class SharedConnection {
  /** Run whenever there is a new connection. */
  readonly reachable: Set<() => void> = new Set()
  /** Its timeout is the longest deadline of its stores. */
  private readonly patience = new Patience()
  private stores = 0
  /** The user's client. */
  private readonly original: WatchedClient
  private current: WatchedClient
  private readonly waiting: WaitingCalls
  private readonly spares: SpareConnections
  private wasReady = false
  /** Whether a call was answered since a new connection was last reported, and when that was. */
  private hasAnswered = true
  private reportedAt: Millis = 0
  /** When the first call came or the first connection stood. */
  private startedAt: Millis | undefined
  /** Counts from the first call to the first answer. */
  readonly pauses: ProcessPauses
  /** When the first calls no longer wait for all nodes. */
  private warmBy: Millis | undefined
  /** When the connection is next checked, and the timer for that. */
  private checkAt: Millis = Infinity
  private checkTimer: unknown
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
    this.original = { client, calls: new ShardCalls(this.patience) }
    this.current = this.original
    this.eventAt = clock()
    this.waiting = new WaitingCalls(clock)
    this.pauses = new ProcessPauses(clock, timers)
    this.spares = new SpareConnections({
      open: () => client.duplicate() ?? this.trust(),
      isWanted: () => this.isLost() && clock() - this.sentAt <= RECONNECT_FOR,
      onReady: (spare) => this.switchTo(spare),
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

  readonly run: RunScript = (call, receiver, now) => {
    this.sentAt = now
    if (!this.wasReady && this.mustWait()) return this.keepWaiting(call, receiver)
    if (this.current !== this.original && !this.current.client.isReady()) this.switchBack()
    const { current } = this
    const { client, calls } = current
    const { script, names, args } = call
    const shard = client.cluster ? shardOfSlot(slotOf(names[0]!)) : 0
    const since = calls.sent(shard, names[0] ?? '', now)
    const { patience } = this
    if (now - since >= patience.timeout) this.scheduleCheck(since + patience.of(shard) - now)
    let answer: Promise<unknown>
    try {
      answer = call.isByText
        ? client.eval(script.text, names, args)
        : client.evalsha(script.hash, names, args)
    } catch (error) {
      calls.disconnected(shard)
      return receiver.failed(call, error)
    }
    answer.then(
      (reply) => {
        if (!receiver.answered(call, reply) && !call.isByText) current.isDistrusted = true
        if (current.isDistrusted === true) return calls.unanswered(shard)
        this.hasAnswered = true
        calls.answered(shard, this.environment.clock() - now)
      },
      (error: unknown) => {
        this.failed(current, shard, error, now)
        receiver.failed(call, error)
      },
    )
  }

  /** Runs a script by its text. */
  eval(text: string, names: readonly string[], args: readonly string[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const call = { script: { text, hash: '' }, isByText: true, names, args }
      const answered = (_: ScriptCall, reply: unknown): boolean => {
        resolve(reply)
        return true
      }
      const failed = (_: ScriptCall, error: unknown): void => reject(error as Error)
      this.run(call, { answered, failed }, this.environment.clock())
    })
  }

  /** Another store uses it, with that deadline. Returns what ends that. */
  join(timeout: Millis): () => void {
    this.patience.timeout = Math.max(this.patience.timeout, timeout)
    this.stores += 1
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      this.stores -= 1
      if (this.stores === 0) this.closeSpares()
    }
  }

  /** Closes the extra connections, and uses the user's client again. */
  private closeSpares(): void {
    this.spares.stop()
    const { spare } = this.current
    this.current = this.original
    spare?.close()
  }

  /** Keeps a call until the client has its first connection. */
  private keepWaiting<C extends ScriptCall>(call: C, receiver: CallReceiver<C>): void {
    this.helpWhenStuck()
    const send = (): void => this.run(call, receiver, this.environment.clock())
    const failed = (error: Error): void => receiver.failed(call, error)
    this.waiting.add(send, failed, this.patience.timeout + STARTUP_TIME)
  }

  /** While a client has never been connected, its calls wait; the deadline that each carries keeps that harmless. */
  private mustWait(): boolean {
    if (this.current !== this.original) return false
    if (this.original.client.isClosed()) {
      this.onNotOpen?.()
      this.onNotOpen = undefined
      return false
    }
    this.startedAt ??= this.environment.clock()
    // Not in a cluster: a request over several nodes is given up before its calls are.
    if (!this.original.client.cluster) this.pauses.start()
    this.original.client.wake(() => this.ready())
    this.wasReady = this.isWarm()
    return !this.wasReady
  }

  /** Whether calls may leave; a node of a cluster that does not connect holds up the others for a while only. */
  private isWarm(): boolean {
    const { client } = this.original
    if (!client.isReady()) return false
    this.warmBy ??= this.environment.clock() + WARM_UP
    return client.isWarm() || this.environment.clock() >= this.warmBy
  }

  private failed({ calls }: WatchedClient, shard: number, error: unknown, sentAt: Millis): void {
    const { code } = storeError(error)
    if (code === 'store-timeout') return calls.unanswered(shard)
    if (code !== 'store-unreachable')
      return calls.answered(shard, this.environment.clock() - sentAt)
    calls.disconnected(shard)
    this.helpWhenStuck()
  }

  /** Opens a new connection if the client is stuck without one, now or when it will be. */
  private helpWhenStuck(): void {
    if (this.isLost()) this.spares.start()
    // While the breaker is open, few calls come that would notice.
    else this.scheduleCheck(this.eventAt + STUCK_AFTER - this.environment.clock())
  }

  /** Checks the connection when the patience is over, but at least one deadline from now: after a pause of this process, answers are still unread. */
  private scheduleCheck(after: Millis): void {
    const { clock, timers } = this.environment
    const wait = Math.max(after, this.patience.timeout)
    const at = clock() + wait
    if (this.checkAt <= at) return
    timers.stop(this.checkTimer)
    this.checkAt = at
    const check = (): void => {
      this.checkAt = Infinity
      if (this.isLost()) this.spares.start()
      // The client has begun another attempt, which may hang as well.
      else if (!this.current.client.isReady() && clock() - this.sentAt <= RECONNECT_FOR)
        this.scheduleCheck(this.eventAt + STUCK_AFTER - clock())
    }
    this.checkTimer = startInBackground(timers, check, wait)
  }

  /** Whether a new connection is wanted: nothing was heard, or the client is stuck without a connection. */
  private isLost(): boolean {
    const { client, calls } = this.current
    if (this.stores === 0 || this.original.client.isClosed()) return false
    const now = this.environment.clock()
    if (calls.silentShards(now).length > 0) return true
    return !client.isReady() && (now - this.eventAt >= STUCK_AFTER || this.isLateCluster(now))
  }

  /**
   * Whether a cluster has not been complete for as long as a silent shard is waited for, since the first call. One of the
   * connections that it has may be dead, which no call can show before the last node is there.
   */
  private isLateCluster(now: Millis): boolean {
    if (this.wasReady || this.startedAt === undefined || !this.original.client.cluster) return false
    return now - this.startedAt >= PATIENCE * this.patience.timeout
  }

  /** Uses a new connection, for as long as the user's client does not answer. */
  private switchTo(spare: DuplicateClient): void {
    const { current } = this
    const silent = current.calls.silentShards(this.environment.clock())
    for (const shard of silent) this.patience.grow(shard)
    this.current = { client: spare.adapter, calls: new ShardCalls(this.patience), spare }
    this.closeAfterCalls(current.spare)
    // If the cluster was never complete, every node is probed before it is used.
    this.silentKeys = this.isLateCluster(this.environment.clock())
      ? keysOfShards()
      : silent.map((shard) => current.calls.keyOf(shard))
    this.switchBackFrom(this.current)
    this.waiting.release()
    this.reportReachable()
  }

  private switchBackFrom(spare: WatchedClient): void {
    if (spare !== this.original && this.silentKeys.length > 0)
      void this.switchBackWhenAnswered(spare, this.silentKeys)
  }

  /** Goes back to the user's client as soon as all shards answer in time: it only hung, or its packets were late. */
  private async switchBackWhenAnswered(
    spare: WatchedClient,
    keys: readonly string[],
  ): Promise<void> {
    const { clock, timers } = this.environment
    while (this.current === spare) {
      const sentAt = clock()
      const answers = await Promise.all(
        keys.map((key) => writeAt(key, this.original.client, sentAt)),
      )
      // Without a connection the client will say when it is ready.
      if (answers.includes('unanswered')) return
      const isHealthy = answers.every((answer) => answer === 'taken')
      if (isHealthy && clock() - sentAt <= this.patience.timeout && this.current === spare)
        this.switchBack()
      // A replica may become the primary again.
      if (!isHealthy)
        await new Promise<void>((resolve) => {
          startInBackground(timers, resolve, MAX_PATIENCE * this.patience.timeout)
        })
    }
  }

  /** Counts the replies of the user's client again; one that cannot be duplicated is used as it is. */
  private trust(): undefined {
    this.original.isDistrusted = false
  }

  private switchBack(): void {
    const { spare } = this.current
    this.current = this.original
    this.original.calls.reset()
    this.trust()
    this.closeAfterCalls(spare)
  }

  /** Closes a connection of ours once the calls on it have ended. */
  private closeAfterCalls(spare: DuplicateClient | undefined): void {
    if (spare !== undefined)
      startInBackground(this.environment.timers, () => spare.close(), 2 * this.patience.timeout)
  }

  /** The user's client has connected, or a node of its cluster, which may be too early for commands. */
  private ready(): void {
    if (!this.wasReady && this.mustWait()) return
    if (!this.original.client.isReady()) return
    this.eventAt = this.environment.clock()
    // The node that connected may not be the one that does not answer.
    if (this.original.client.cluster) this.switchBackFrom(this.current)
    else {
      this.spares.stop()
      this.switchBack()
    }
    this.waiting.release()
    this.reportReachable()
  }

  /** The client shows that it tries to connect. */
  private noteEvent(): void {
    this.eventAt = this.environment.clock()
  }

  /**
   * Reports that there is a new connection; at most once in {@link MIN_REPORT_GAP} while connections end before they have answered.
   * A server may end each one at its first call, and the listeners would try again at once each time.
   */
  private reportReachable(): void {
    const now = this.environment.clock()
    if (!this.hasAnswered && now - this.reportedAt < MIN_REPORT_GAP) return
    this.hasAnswered = false
    this.reportedAt = now
    for (const run of this.reachable) run()
  }
}
