// Sends the requests of one event-loop turn in few script calls, and settles each with its own answer.
import { SluiceError } from '../errors.ts'
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Exchanged, ExchangeRequest, Settled, Settlement } from '../stores/holds/hold-store.ts'
import type { TakeReceiver } from '../stores/mapped-takes.ts'
import type { Check, MaybePromise } from '../stores/store.ts'
import type { Clock, Millis } from '../time/clock.ts'
import { Timeouts, type Timers } from '../time/timers.ts'
import { TurnBatches } from '../time/turn-batches.ts'
import { Batch, type Answer } from './batch.ts'
import type { RedisConnection } from './connection.ts'
import type { Eviction } from './eviction.ts'
import { chargedOf, type Charged } from './late.ts'
import { isNoScript, storeError } from './redis-errors.ts'
import { misread, numberIn } from './reply.ts'
import { ANY_TIME, ServerTime } from './server-time.ts'
import { knownShape, settleChecks, shapeOf, traced, type Operation, type Shape } from './shape.ts'
import { shardOfSlot, slotOf, tagOfSlot } from './slot.ts'

/** Checks in one script call at most: more gains nothing, and the server answers no other client meanwhile. */
const MAX_CHECKS = 64

/**
 * The same when the answer to a larger call has come and no other call is in flight: the server then works on the first
 * checks while those behind them are still gathered. Two calls take turns, and neither side waits for the other.
 */
const HALF = MAX_CHECKS / 2

/** Shapes of takes that are kept, since nearly all requests have one of few. */
const MAX_SHAPES = 16

const NONE: readonly never[] = []

/** How a batcher reaches the server. */
export interface BatcherOptions {
  readonly connection: RedisConnection
  readonly timeout: Millis
  /** Our own time, for deadlines. */
  readonly clock: Clock
  /** Tests only: the time that the script sees instead of the server's. */
  readonly serverClock: Clock | undefined
  /** Default: the runtime's own. */
  readonly timers?: Timers
  /** Called for each take that was answered after it had been given up; `isCharged`: whether it had charged anything. */
  readonly onLate?: (isCharged: boolean) => void
  /** Refunds what a call charged that was answered after it had been given up. The names share a cluster slot. */
  readonly refundLate?: (charged: readonly Charged[], names: readonly string[]) => void
  /** Whether the server may drop counts by itself. */
  readonly eviction?: Eviction
  /** Receives limits of takes that have not been seen for a while. */
  readonly warnOf?: (limit: Limit) => void
}

/** Sends requests in batches, in the order in which they came. */
export class Batcher {
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
      make: () => new Batch(),
      hasRoom: ({ names }, size) => names.length + size <= this.mostChecks(),
      send: this.begin,
      timers: options.timers,
    })
  }

  private mostChecks(): number {
    const isWaitedFor = this.batches.inFlight === 0 && this.last !== undefined
    return isWaitedFor && this.last!.names.length > HALF ? HALF : MAX_CHECKS
  }

  /** Runs one request, whose names are all in one cluster slot. Rejects with a {@link SluiceError}. */
  run(
    operation: Operation,
    checks: readonly Check[],
    names: readonly string[],
  ): Promise<readonly Verdict[]> {
    const lowers = operation === 'refund' || operation === 'reset'
    const sent = lowers && this.options.eviction?.isPossible === true ? traced(checks) : checks
    const [own, request] = this.add(operation, sent, names)
    return own.done.then(() => own.answerTo(request) as readonly Verdict[])
  }

  /** A take, answered to a receiver: further promises would cost more than the rest. */
  take<T>(
    checks: readonly Check[],
    names: readonly string[],
    receiver: TakeReceiver<T>,
  ): Promise<T> {
    const own = this.batchFor(names)
    const request = own.add(this.shapeIn(own, 'take', checks), names, checks)
    // Not kept by the batch: in a batch that has moved to V8's old space they would keep all that they hold alive.
    return own.done.then(() => {
      this.lastReceiver = receiver
      const answer = own.resultOf(request)
      return answer instanceof Error
        ? receiver.failed(answer)
        : receiver.passed(answer as readonly Verdict[])
    })
  }

  /** Books settlements, whose names are all in one cluster slot. Answers as `take` does. */
  book<T>(
    settlements: readonly Settlement[],
    names: readonly string[],
    passed: (settled: readonly Settled[]) => MaybePromise<T>,
    failed: (error: unknown) => MaybePromise<T>,
  ): Promise<T> {
    const [own, request] = this.add('settle', settleChecks(settlements), names)
    return own.done.then(() => {
      const answer = own.resultOf(request)
      return answer instanceof Error ? failed(answer) : passed(answer as readonly Settled[])
    })
  }

  /** Adds a request to a batch. Returns the batch, and the request's number there. */
  private add(
    operation: Operation,
    checks: readonly Check[],
    names: readonly string[],
  ): readonly [Batch, number] {
    const own = this.batchFor(names)
    return [own, own.add(this.shapeIn(own, operation, checks), names, checks)]
  }

  /** The batch of this turn for a request of these names. */
  private batchFor(names: readonly string[]): Batch {
    const slot = this.options.connection.cluster ? slotOf(names[0]!) : 0
    const own = this.batches.batchFor(slot, names.length)
    own.slot = slot
    return own
  }

  /** Runs exchanges of one slot, each by itself. Answers all of them with one promise: each by its answer, or by its error. */
  async exchangeEach(
    requests: readonly ExchangeRequest[],
    nameOf: (space: string, key: string) => string,
  ): Promise<readonly (Exchanged | Error)[]> {
    const placed: (readonly [Batch, number] | undefined)[] = []
    const batches = new Set<Batch>()
    const place = (operation: Operation, checks: readonly Check[]): void => {
      const names: string[] = []
      for (const { space, key } of checks) names.push(nameOf(space, key))
      const one = checks.length === 0 ? undefined : this.add(operation, checks, names)
      if (one !== undefined) batches.add(one[0])
      placed.push(one)
    }
    for (const { settlements, checks } of requests) {
      place('settle', settleChecks(settlements))
      place('take', checks)
    }
    for (const { done } of batches) await done
    return requests.map((_, i) => {
      try {
        const settled = answerOf(placed[2 * i]) as readonly Settled[]
        const take = placed[2 * i + 1]
        const verdicts = answerOf(take) as readonly Verdict[]
        return { settled, verdicts, epoch: take?.[0].epoch }
      } catch (error) {
        return error as Error
      }
    })
  }

  private readonly begin = (batch: Batch): void => {
    const now = this.options.clock()
    batch.deadline = now + this.options.timeout
    if (this.last === undefined) batch.standstill = this.options.connection.standstill.total
    this.batches.inFlight += 1
    this.timeouts.add(batch)
    this.send(batch, true, now)
  }

  /** The shape of a request: one of the batch, one that was kept, or a new one. */
  private shapeIn(batch: Batch, operation: Operation, checks: readonly Check[]): Shape {
    const known =
      knownShape(batch.shapes, operation, checks) ?? knownShape(this.shapes, operation, checks)
    if (known !== undefined) return known
    const { serverClock, clock, warnOf } = this.options
    if (operation === 'take') for (const { limit } of checks) warnOf?.(limit)
    const made = shapeOf(operation, checks, (serverClock ?? clock)())
    const isKept = (operation === 'take' || operation === 'settle') && made.isLasting
    if (isKept && this.shapes.push(made) > MAX_SHAPES) this.shapes.shift()
    return made
  }

  /** Sends the hash of the script, and the script itself only if the server does not know it. Nothing else is sent twice. */
  private send(batch: Batch, mayRepeat: boolean, sentAt: Millis): void {
    const { connection, serverClock } = this.options
    const { names } = batch
    // An error thrown here must settle the batch, or its callers would wait for ever.
    try {
      // A call that waited in the socket of a hung server until we gave up must do nothing.
      const isBounded = serverClock === undefined && !batch.mayActLate
      batch.latest = isBounded ? this.serverTimeOf(batch).at(batch.deadline) : ANY_TIME
      const args = batch.argsFor(
        serverClock === undefined ? '' : String(serverClock()),
        batch.latest,
        connection.cluster && batch.hasLeases ? leaseMarker(names[0]!, batch.slot) : undefined,
      )
      const { script } = batch
      const answered = (reply: unknown): boolean => this.receive(batch, reply, mayRepeat, sentAt)
      const failed = (error: unknown): void => {
        if (!isNoScript(error)) return void this.settle(batch, storeError(error))
        connection
          .eval(script.text, names, args)
          .then(answered, (cause: unknown) => void this.settle(batch, storeError(cause)))
      }
      connection.run(script.hash, names, args, sentAt, answered, failed)
    } catch (cause) {
      this.settle(batch, storeError(cause))
    }
  }

  /** Settles a batch with the reply to a call that was sent at an instant. Returns whether a primary gave it, to this call. */
  private receive(batch: Batch, reply: unknown, mayRepeat: boolean, sentAt: Millis): boolean {
    const { clock, connection } = this.options
    // Not by a promise that catches: it would cost as much as the rest of a call that is alone.
    try {
      if (!Array.isArray(reply)) throw misread(reply)
      const values = reply as readonly unknown[]
      const first = numberIn(values[0])
      // Negative: the call came too late by the server's clock and did nothing. Unless we have given up, it was not
      // late: we did not know that clock yet, or it was set. It may be sent again.
      const isLate = first < 0
      const now = Math.abs(first)
      if (isLate !== (batch.latest !== ANY_TIME && now > batch.latest)) throw misread(values)
      if (!isLate) batch.read(values, now)
      this.serverTimeOf(batch).learn(now, sentAt, clock())
      if (isLate) {
        // The first estimates of that clock are bad where the process stands still again and again.
        const mayStill = !batch.settled && (mayRepeat || this.prolong(batch))
        // In a turn of its own: first, this call has ended.
        if (mayStill) queueMicrotask(() => this.send(batch, false, clock()))
        else this.settle(batch, callExpired())
        return true
      }
      if (this.last === undefined) connection.standstill.stop()
      this.last = batch
      if (!this.settle(batch)) this.refundLate(batch)
      return !batch.isOfReplica
    } catch (cause) {
      this.settle(batch, storeError(cause))
      return false
    }
  }

  private serverTimeOf({ slot }: Batch): ServerTime {
    const shard = slot === 0 ? 0 : shardOfSlot(slot)
    return (this.serverTimes[shard] ??= new ServerTime())
  }

  /** The server acted in time, but its answer came after we had given up: the callers were answered without it. */
  private refundLate(batch: Batch): void {
    const { onLate, refundLate } = this.options
    batch.forEach((shape, checks, names, answer) => {
      if (shape.operation !== 'take' || typeof answer === 'string') return
      const charged = chargedOf(checks, answer as readonly Verdict[])
      onLate?.(charged.length > 0)
      if (charged.length === 0) return
      refundLate?.(
        charged,
        charged.map(({ index }) => names[index]!),
      )
    })
  }

  private readonly giveUp = (batch: Batch): void => {
    if (!this.prolong(batch)) this.settle(batch, callExpired(this.options.timeout))
  }

  /**
   * A call that was made before the first answer has its deadline without the times in which the process stood still: a fleet
   * that starts keeps its machine busy, and each fallback grants a share of every limit. Returns whether time is left.
   */
  private prolong(batch: Batch): boolean {
    if (batch.standstill === undefined) return false
    const { connection, clock } = this.options
    const { total } = connection.standstill
    // Calls stay in their order: what lies between two of them is at least as long as a pause in it.
    batch.deadline += total - batch.standstill
    batch.standstill = total
    return batch.deadline > clock()
  }

  /** Settles all requests of a batch, with their answers or with a failure. False if already settled. */
  private settle(batch: Batch, failure?: SluiceError): boolean {
    if (batch.settled) return false
    this.batches.inFlight -= 1
    this.timeouts.remove(batch)
    batch.settle(failure)
    return true
  }
}

/** The key by which a server of a cluster knows whether it may lease in a slot: it is in that slot, with the prefix of a count. */
function leaseMarker(name: string, slot: number): string {
  return `${name.slice(0, name.indexOf('{'))}{${tagOfSlot(slot)}}leases`
}

/** The answer to a request of a batch that is settled; none to no request. Throws its error. */
function answerOf(placed: readonly [Batch, number] | undefined): Exclude<Answer, string> {
  return placed === undefined ? NONE : placed[0].answerTo(placed[1])
}

/** The error of a call that was given up, or that the server found too late. */
export function callExpired(timeout?: Millis): SluiceError {
  const when = timeout === undefined ? 'in time' : `within ${timeout} ms`
  return new SluiceError('store-timeout', `Redis did not answer ${when}`, { transient: true })
}
