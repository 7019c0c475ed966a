// Sends the requests of one event-loop turn in few script calls, and answers each by itself.
import { SluiceError } from '../errors.ts'
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Exchanged, ExchangeRequest, Settled, Settlement } from '../stores/holds/hold-store.ts'
import type { TakeReceiver } from '../stores/mapped-takes.ts'
import type { Check, MaybePromise } from '../stores/store.ts'
import type { Clock, Millis } from '../time/clock.ts'
import { Timeouts, type Timers } from '../time/timers.ts'
import { TurnBatches } from '../time/turn-batches.ts'
import { ANY_TIME, Batch, knownShape, ServerTime, type Answer } from './batch.ts'
import type { RedisConnection } from './connection.ts'
import type { Eviction } from './eviction.ts'
import { chargesOf, type Charge } from './charges.ts'
import { isNoScript, storeError } from './redis-errors.ts'
import { settleChecks, shapeOf, withTraces, type Operation, type Shape } from './shape.ts'
import type { CallReceiver } from './shared-connection.ts'
import { shardOfSlot, slotOf, tagOfSlot } from './slot.ts'

/** Checks in one script call at most: more gains nothing, and the server answers no other client meanwhile. */
const MAX_CHECKS = 64

/**
 * The most checks in a call while no other call is in flight after a larger one was answered: the server works on these while
 * the next ones are gathered. Two calls take turns, and neither side waits for the other.
 */
const HALF_BATCH = MAX_CHECKS / 2

/** Shapes of takes that are kept, since nearly all requests have one of few. */
const MAX_SHAPES = 16

const NONE: readonly never[] = []

/** How a batcher reaches the server. */
export interface BatcherOptions {
  readonly connection: RedisConnection
  /** Names a count. */
  readonly nameOf: (space: string, key: string) => string
  readonly timeout: Millis
  /** Our own time, for deadlines. */
  readonly clock: Clock
  /** Tests only: the time that the script sees instead of the server's. */
  readonly serverClock: Clock | undefined
  /** Default: the runtime's own. */
  readonly timers?: Timers
  /** Called for each take that was answered after it had been given up; `isCharged`: whether it had charged anything. */
  readonly onLate?: (isCharged: boolean) => void
  /**
   * Refunds what a call charged that was answered after it had been given up. The names share a cluster slot; the checks may
   * be those of another request of the same shape, on other counts.
   */
  readonly refundLate?: (charges: readonly Charge[], names: readonly string[]) => void
  /** Whether the server may drop counts by itself. */
  readonly eviction?: Eviction
  /** Receives limits of takes that have not been seen for a while. */
  readonly warnOf?: (limit: Limit) => void
}

/** Sends requests in batches, in the order in which they came. All checks of a request are in one cluster slot. */
export class Batcher implements CallReceiver<Batch> {
  private readonly options: BatcherOptions
  private readonly timeouts: Timeouts<Batch>
  /** By shard, since the nodes of a cluster have clocks of their own. */
  private readonly serverTimes: ServerTime[] = []
  /** By cluster slot; without a cluster, all under 0. */
  private readonly batches: TurnBatches<number, Batch>
  private readonly shapes: Shape[] = []
  /**
   * The call that was answered last, with its verdicts. V8 discards its code for objects of which none is left after a
   * garbage collection, and a quiet store would start again with slow code.
   */
  protected last: Batch | undefined
  /** The same for those who receive answers. */
  protected lastReceiver: TakeReceiver<unknown> | undefined

  constructor(options: BatcherOptions) {
    this.options = options
    this.timeouts = new Timeouts(options.clock, this.giveUp, options.timers)
    this.batches = new TurnBatches({
      make: (slot) => {
        const shard = slot === 0 ? 0 : shardOfSlot(slot)
        return new Batch(slot, (this.serverTimes[shard] ??= new ServerTime()))
      },
      hasRoom: ({ names }, size) => names.length + size <= this.maxChecks(),
      send: this.begin,
      timers: options.timers,
    })
  }

  private maxChecks(): number {
    const isIdle = this.batches.inFlight === 0 && this.last !== undefined
    return isIdle && this.last!.names.length > HALF_BATCH ? HALF_BATCH : MAX_CHECKS
  }

  /** Runs one request; `names` are those of the counts, unless the checks say them. Rejects with a {@link SluiceError}. */
  run(
    operation: Operation,
    checks: readonly Check[],
    names?: readonly string[],
  ): Promise<readonly Verdict[]> {
    const lowers = operation === 'refund' || operation === 'reset'
    const sent = lowers && this.options.eviction?.isPossible === true ? withTraces(checks) : checks
    const batch = this.add(operation, sent, names)
    const request = batch.newest
    return batch.done.then(() => batch.answerTo(request) as readonly Verdict[])
  }

  /** A take, answered to a receiver: further promises would cost more than the rest. */
  take<T>(checks: readonly Check[], receiver: TakeReceiver<T>): Promise<T> {
    const batch = this.add('take', checks)
    const request = batch.newest
    // Not kept by the batch: in a batch that has moved to V8's old space they would keep all that they hold alive.
    return batch.done.then(() => {
      this.lastReceiver = receiver
      const answer = batch.resultOf(request)
      return answer instanceof Error
        ? receiver.failed(answer)
        : receiver.passed(answer as readonly Verdict[])
    })
  }

  /** Sends settlements. Answers as `take` does. */
  settle<T>(
    settlements: readonly Settlement[],
    passed: (settled: readonly Settled[]) => MaybePromise<T>,
    failed: (error: unknown) => MaybePromise<T>,
  ): Promise<T> {
    const batch = this.add('settle', settleChecks(settlements))
    const request = batch.newest
    return batch.done.then(() => {
      const answer = batch.resultOf(request)
      return answer instanceof Error ? failed(answer) : passed(answer as readonly Settled[])
    })
  }

  /** Adds a request to the batch of this turn, as its newest. */
  private add(operation: Operation, checks: readonly Check[], names?: readonly string[]): Batch {
    const { connection, nameOf } = this.options
    // Before there is a batch, which others share: a key that is no string throws.
    const all = names ?? (checks.length > 1 ? namesOf(checks, nameOf) : undefined)
    const first = all?.[0] ?? nameOf(checks[0]!.space, checks[0]!.key)
    const batch = this.batches.batchFor(connection.cluster ? slotOf(first) : 0, checks.length)
    const shape =
      knownShape(batch.shapes, operation, checks) ??
      knownShape(this.shapes, operation, checks) ??
      this.newShape(operation, checks)
    batch.add(shape, checks, first, all)
    return batch
  }

  private newShape(operation: Operation, checks: readonly Check[]): Shape {
    const { serverClock, clock, warnOf } = this.options
    if (operation === 'take') for (const { limit } of checks) warnOf?.(limit)
    const shape = shapeOf(operation, checks, (serverClock ?? clock)())
    const isKept = (operation === 'take' || operation === 'settle') && shape.isLasting
    if (isKept && this.shapes.push(shape) > MAX_SHAPES) this.shapes.shift()
    return shape
  }

  /** Runs exchanges of one slot, each by itself. Answers all of them with one promise: each by its answer, or by its error. */
  async exchangeEach(
    requests: readonly ExchangeRequest[],
  ): Promise<readonly (Exchanged | Error)[]> {
    const places: (readonly [Batch, number] | undefined)[] = []
    const batches = new Set<Batch>()
    const place = (operation: Operation, checks: readonly Check[]): void => {
      if (checks.length === 0) return void places.push(undefined)
      const batch = this.add(operation, checks)
      batches.add(batch)
      places.push([batch, batch.newest])
    }
    for (const { settlements, checks } of requests) {
      place('settle', settleChecks(settlements))
      place('take', checks)
    }
    for (const { done } of batches) await done
    return requests.map((_, i) => {
      try {
        const settled = answerOf(places[2 * i]) as readonly Settled[]
        const take = places[2 * i + 1]
        const verdicts = answerOf(take) as readonly Verdict[]
        return { settled, verdicts, epoch: take?.[0].epoch }
      } catch (error) {
        return error as Error
      }
    })
  }

  private readonly begin = (batch: Batch): void => {
    const { clock, timeout, connection } = this.options
    const now = clock()
    batch.deadline = now + timeout
    if (this.last === undefined) batch.pausesAtStart = connection.pauses.total
    this.batches.inFlight += 1
    this.timeouts.add(batch)
    this.send(batch, now)
  }

  /** Sends the hash of the script. Nothing is sent twice but what the server did not know or found late. */
  private send(batch: Batch, now: Millis): void {
    const { connection, serverClock } = this.options
    const { slot, names } = batch
    // An error thrown here must finish the batch, or its callers would wait for ever.
    try {
      // A call that waited in the socket of a hung server until we gave up must do nothing.
      const isBounded = serverClock === undefined && !batch.mayActLate
      batch.latest = isBounded ? batch.serverTime.at(batch.deadline) : ANY_TIME
      batch.args = batch.argsFor(
        serverClock === undefined ? '' : String(serverClock()),
        batch.latest,
        connection.cluster && batch.hasLeases ? leaseMarker(names[0]!, slot) : undefined,
      )
      batch.isByText = false
      batch.sentAt = now
      connection.run(batch, this, now)
    } catch (cause) {
      this.finish(batch, storeError(cause))
    }
  }

  answered(batch: Batch, reply: unknown): boolean {
    const { clock, connection } = this.options
    // Not by a promise that catches: it would cost as much as the rest of a call that is alone.
    try {
      if (!batch.read(reply, clock())) {
        // It was not late, or we would have given it up: we did not know the server's clock yet, or it was set. It is sent again,
        // and once more while it has time left: the first estimates are bad where the process is paused again and again.
        if (batch.isRepeated) this.giveUp(batch)
        batch.isRepeated = true
        // In a microtask, after this call has ended.
        if (!batch.isFinished) queueMicrotask(() => this.send(batch, clock()))
        return true
      }
      if (this.last === undefined) connection.pauses.stop()
      this.last = batch
      if (!this.finish(batch)) this.refundLate(batch)
      return !batch.isOfReplica
    } catch (cause) {
      this.finish(batch, storeError(cause))
      return false
    }
  }

  /** Sends the script itself if the server did not know its hash. */
  failed(batch: Batch, error: unknown): void {
    const { connection, clock } = this.options
    if (batch.isByText || !isNoScript(error)) return void this.finish(batch, storeError(error))
    batch.isByText = true
    try {
      connection.run(batch, this, clock())
    } catch (cause) {
      this.finish(batch, storeError(cause))
    }
  }

  /** The server acted in time, but its answer came after we had given up: the callers were answered without it. */
  private refundLate(batch: Batch): void {
    const { onLate, refundLate } = this.options
    batch.forEach((shape, checks, names, answer) => {
      if (shape.operation !== 'take' || typeof answer === 'string') return
      const charges = chargesOf(checks, answer as readonly Verdict[])
      onLate?.(charges.length > 0)
      if (charges.length === 0) return
      refundLate?.(
        charges,
        charges.map(({ index }) => names[index]!),
      )
    })
  }

  /**
   * Gives a call up, unless it has time left. A call that was made before the first answer has its deadline without the times
   * in which the process was paused: a fleet that starts keeps its machine busy, and each fallback grants a share of every
   * limit.
   */
  private readonly giveUp = (batch: Batch): void => {
    const { connection, clock, timeout } = this.options
    if (batch.pausesAtStart !== undefined) {
      const { total } = connection.pauses
      // Calls stay in their order: what lies between two of them is at least as long as a pause in it.
      batch.deadline += total - batch.pausesAtStart
      batch.pausesAtStart = total
      if (batch.deadline > clock()) return
    }
    this.finish(batch, callExpired(timeout))
  }

  /** Resolves all requests of a batch, with their answers or with a failure. False if already finished. */
  private finish(batch: Batch, failure?: SluiceError): boolean {
    if (batch.isFinished) return false
    batch.isFinished = true
    batch.failure = failure
    this.batches.inFlight -= 1
    this.timeouts.remove(batch)
    batch.finish()
    return true
  }
}

function namesOf(checks: readonly Check[], nameOf: BatcherOptions['nameOf']): readonly string[] {
  // Of the right length from the start: V8 makes room for seventeen on a first push.
  const names = new Array<string>(checks.length)
  for (let i = 0; i < checks.length; i++) names[i] = nameOf(checks[i]!.space, checks[i]!.key)
  return names
}

/** The key by which a server of a cluster knows whether it may lease in a slot: it is in that slot, with the prefix of a count. */
function leaseMarker(name: string, slot: number): string {
  return `${name.slice(0, name.indexOf('{'))}{${tagOfSlot(slot)}}leases`
}

/** The answer to a request of a batch that is finished; none to no request. Throws its error. */
function answerOf(place: readonly [Batch, number] | undefined): Exclude<Answer, string> {
  return place === undefined ? NONE : place[0].answerTo(place[1])
}

/** The error of a call that was given up, or that the server found too late. */
export function callExpired(timeout?: Millis): SluiceError {
  const when = timeout === undefined ? 'in time' : `within ${timeout} ms`
  return new SluiceError('store-timeout', `Redis did not answer ${when}`, { transient: true })
}
