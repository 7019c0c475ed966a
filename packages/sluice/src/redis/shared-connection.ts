// The connection of all stores on one client: that client, or a second one while the first does not answer.
import { systemClock, type Millis } from '../time/clock.ts'
import { backgroundTimers } from '../time/timers.ts'
import type { ClientAdapter, DuplicateClient, ScriptRunner } from './client-adapter.ts'
import { HeldCalls } from './held-calls.ts'
import { reconnectDelay } from './reconnect-delay.ts'
import { storeError } from './redis-errors.ts'
import { Silence, type CallEnd } from './silence.ts'
import { shardOfSlot, slotOf } from './slot.ts'
import { SpareConnections } from './spare-connections.ts'

/** Deadlines without an answer in time after which a new connection is opened. */
const PATIENCE = 3
/** The most that this grows to, when new connections do not help either. */
const MAX_PATIENCE = 48
/** Milliseconds after which a client that has no connection, and shows no attempt to get one, is helped. */
const STUCK: Millis = 2000
/** Milliseconds for which the first calls wait for all nodes of a cluster. */
const WARM_UP: Millis = 1000
/** Milliseconds after the last call for which new connections are tried. */
const WANTED: Millis = 10_000

/** A client of which the calls are watched. */
interface Link {
  readonly client: ClientAdapter
  readonly silence: Silence
  /** Set if the connection is our own. */
  readonly spare?: DuplicateClient
}

/** The connection of all stores that use one client. */
export class SharedConnection implements ScriptRunner {
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
  /** When the first calls no longer wait for all nodes. */
  private warmBy: Millis | undefined
  private isSuspected = false
  private sentAt: Millis = 0
  private eventAt: Millis

  constructor(client: ClientAdapter) {
    this.own = { client, silence: new Silence() }
    this.current = this.own
    this.eventAt = systemClock()
    this.held = new HeldCalls(systemClock)
    this.spares = new SpareConnections({
      open: () => client.duplicate(),
      isWanted: () => this.isLost() && systemClock() - this.sentAt <= WANTED,
      onReady: (spare) => this.adopt(spare),
      // Twice in the time in which a client tries once: an attempt that began too early is lost.
      delay: (attempt) => reconnectDelay(attempt) / 2,
    })
    // Not `error`: a listener of ours would hide that the user has none.
    client.on(['connecting', 'reconnecting', 'node-reconnecting'], () => this.noteEvent())
    // A cluster of node-redis has only the other two.
    client.on(client.cluster ? ['ready', 'connect', 'node-ready'] : ['ready'], () => this.ready())
    client.on(['end'], () => this.closeSpares())
  }

  evalsha(hash: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.send(keys, (client) => client.evalsha(hash, keys, args))
  }

  eval(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.send(keys, (client) => client.eval(script, keys, args))
  }

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
    keys: readonly string[],
    run: (client: ClientAdapter) => Promise<unknown>,
  ): Promise<unknown> {
    const now = systemClock()
    this.sentAt = now
    if (!this.wasReady && this.mustHold()) {
      if (this.isLost()) this.spares.start()
      return this.held.add(() => this.send(keys, run), this.timeout)
    }
    if (this.current !== this.own && !this.current.client.isReady()) this.restore()
    const link = this.current
    const shard = link.client.cluster ? shardOfSlot(slotOf(keys[0]!)) : 0
    const since = link.silence.sent(shard, keys[0] ?? '', now)
    if (now - since >= this.timeout) this.suspect(since + this.patienceWith(shard) - now)
    let answer: Promise<unknown>
    try {
      answer = run(link.client)
    } catch (error) {
      link.silence.ended(shard, 'disconnected')
      throw error
    }
    const isInTime = (): boolean => systemClock() - now <= this.timeout
    answer.then(
      () => this.ended(link, shard, isInTime() ? 'in-time' : 'late'),
      (error: unknown) => this.failed(link, shard, error, isInTime()),
    )
    return answer
  }

  /** While a client has never been connected, its calls wait; the deadline that each carries keeps that harmless. */
  private mustHold(): boolean {
    if (this.current !== this.own || this.own.client.isClosed()) return false
    this.own.client.wake(() => this.ready())
    this.wasReady = this.isWarm()
    return !this.wasReady
  }

  /** Whether calls may leave; a node of a cluster that does not connect holds up the others for a while only. */
  private isWarm(): boolean {
    const { client } = this.own
    if (!client.isReady()) return false
    this.warmBy ??= systemClock() + WARM_UP
    return client.isWarm() || systemClock() >= this.warmBy
  }

  private ended(link: Link, shard: number, end: CallEnd): void {
    link.silence.ended(shard, end)
    if (end === 'in-time' && this.patience.size > 0) this.patience.delete(shard)
  }

  private failed(link: Link, shard: number, error: unknown, isInTime: boolean): void {
    const { code } = storeError(error)
    if (code === 'store-timeout') return this.ended(link, shard, 'unanswered')
    if (code !== 'store-unreachable') return this.ended(link, shard, isInTime ? 'in-time' : 'late')
    this.ended(link, shard, 'disconnected')
    if (this.isLost()) this.spares.start()
  }

  /** Looks when the patience is over, a deadline from now at least: after a pause of our own, answers are still unread. */
  private suspect(after: Millis): void {
    if (this.isSuspected) return
    this.isSuspected = true
    const look = (): void => {
      this.isSuspected = false
      if (this.isLost()) this.spares.start()
    }
    backgroundTimers.start(look, Math.max(after, this.timeout))
  }

  /** Whether a new connection is wanted: nothing was heard, or the client is stuck without a connection. */
  private isLost(): boolean {
    const { client, silence } = this.current
    if (this.stores === 0 || this.own.client.isClosed()) return false
    const now = systemClock()
    if (silence.silent(now, this.patienceWith).length > 0) return true
    return !client.isReady() && now - this.eventAt >= STUCK
  }

  private readonly patienceWith = (shard: number): Millis =>
    (this.patience.get(shard) ?? PATIENCE) * this.timeout

  /** Uses a new connection, for as long as the user's client does not answer. */
  private adopt(spare: DuplicateClient): void {
    const { current } = this
    const silent = current.silence.silent(systemClock(), this.patienceWith)
    for (const shard of silent) {
      const deadlines = this.patience.get(shard) ?? PATIENCE
      this.patience.set(shard, Math.min(2 * deadlines, MAX_PATIENCE))
    }
    this.current = { client: spare.adapter, silence: new Silence(), spare }
    this.retire(current.spare)
    const key = silent[0] === undefined ? undefined : current.silence.keyOf(silent[0])
    if (key !== undefined) void this.returnWhenAnswered(this.current, key)
    this.held.release()
    this.announce()
  }

  /** Goes back to the user's client as soon as it answers in time: it only hung, or its packets were late. */
  private async returnWhenAnswered(spare: Link, key: string): Promise<void> {
    while (this.current === spare) {
      const sentAt = systemClock()
      const isAnswered = await this.own.client.eval('return 1', [key], []).then(
        () => true,
        (error: unknown) => !isUnanswered(error),
      )
      // Without a connection the client will say when it is ready.
      if (!isAnswered) return
      if (systemClock() - sentAt <= this.timeout && this.current === spare) this.restore()
    }
  }

  private restore(): void {
    const { spare } = this.current
    this.current = this.own
    this.own.silence.reset()
    this.retire(spare)
  }

  /** Closes a connection of ours once the calls on it have ended. */
  private retire(spare: DuplicateClient | undefined): void {
    if (spare !== undefined) backgroundTimers.start(() => spare.close(), 2 * this.timeout)
  }

  /** The user's client has connected, or a node of its cluster, which may be too early for commands. */
  private ready(): void {
    if (!this.wasReady && this.mustHold()) return
    if (!this.own.client.isReady()) return
    this.eventAt = systemClock()
    this.spares.stop()
    this.restore()
    this.held.release()
    this.announce()
  }

  /** The client shows that it tries to connect. */
  private noteEvent(): void {
    this.eventAt = systemClock()
  }

  private announce(): void {
    for (const run of this.reachable) run()
  }
}

/** Whether an error comes from the client and not from the server. */
function isUnanswered(error: unknown): boolean {
  const { code } = storeError(error)
  return code === 'store-unreachable' || code === 'store-timeout'
}
