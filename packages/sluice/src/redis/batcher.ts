// Gathers the requests of one event-loop turn into few script calls, and hands each its own answer.
import { SluiceError } from '../errors.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Check } from '../stores/store.ts'
import type { Clock, Millis } from '../time/clock.ts'
import type { RedisConnection } from './client.ts'
import { chargedOf } from './late.ts'
import { isNoScript, storeError } from './redis-errors.ts'
import { SCRIPT, SCRIPT_HASH } from './script.generated.ts'
import { hasShape, shapeOf, verdictsOf, type Operation, type Reply, type Shape } from './shape.ts'
import { grouped, slotOf } from './slot.ts'
import { ANY_TIME, ServerTime } from './server-time.ts'
import { Timeouts } from '../time/timeouts.ts'
import { systemTimers, type Timers } from '../time/timers.ts'

/** Checks in one script call at most: more gains nothing, and the server answers nobody else meanwhile. */
const LARGEST_BATCH = 64

/** A request that waits for its answer. Its names are all in one cluster slot. */
interface Waiting {
  readonly operation: Operation
  readonly checks: readonly Check[]
  readonly names: readonly string[]
  readonly resolve: (verdicts: readonly Verdict[]) => void
  readonly reject: (error: SluiceError) => void
}

/** One script call. */
interface Batch {
  readonly waiting: readonly Waiting[]
  readonly shapes: readonly Shape[]
  /** For each request the number of its shape. */
  readonly numbers: readonly number[]
  /** When we give up, by our own clock. */
  readonly deadline: Millis
  settled: boolean
}

/** What a batcher works with. */
export interface BatcherOptions {
  readonly connection: RedisConnection
  readonly timeout: Millis
  /** Our own time, for deadlines. */
  readonly clock: Clock
  /** Tests only: the time that the script sees instead of the server's. */
  readonly serverClock: Clock | undefined
  /** Default: the runtime's own. */
  readonly timers?: Timers
  /** Hears of each take that was answered after it had been given up, and whether it had charged anything. */
  readonly onLate?: (isCharged: boolean) => void
}

/** Sends requests in batches, in the order in which they came. */
export class Batcher {
  private readonly options: BatcherOptions
  private readonly timeouts: Timeouts<Batch>
  private queue: Waiting[] = []
  private inFlight = 0
  private readonly serverTime = new ServerTime()

  constructor(options: BatcherOptions) {
    this.options = options
    this.timeouts = new Timeouts(options.clock, (batch) => this.giveUp(batch), options.timers)
  }

  /** Runs one request; rejects with a {@link SluiceError}. */
  run(
    operation: Operation,
    checks: readonly Check[],
    names: readonly string[],
  ): Promise<readonly Verdict[]> {
    return new Promise((resolve, reject) => {
      this.queue.push({ operation, checks, names, resolve, reject })
      if (this.queue.length === 1) this.schedule()
    })
  }

  /** While nothing is on its way, nothing waits; under load, all requests of the turn travel together. */
  private schedule(): void {
    const flush = (): void => this.flush()
    if (this.inFlight === 0) queueMicrotask(flush)
    else (this.options.timers ?? systemTimers).afterTurn(flush)
  }

  private flush(): void {
    const waiting = this.queue
    this.queue = []
    for (const group of this.options.connection.cluster
      ? grouped(waiting, slotOfRequest)
      : [waiting]) {
      for (const part of parted(group)) this.begin(part)
    }
  }

  private begin(waiting: readonly Waiting[]): void {
    const shapes: Shape[] = []
    const numbers: number[] = []
    for (const { operation, checks } of waiting) numbers.push(numberOf(shapes, operation, checks))
    const deadline = this.options.clock() + this.options.timeout
    const batch: Batch = { waiting, shapes, numbers, deadline, settled: false }
    this.inFlight += 1
    this.timeouts.add(batch)
    void this.send(batch, true)
  }

  /** Never rejects. */
  private async send(batch: Batch, mayRepeat: boolean): Promise<void> {
    const { clock } = this.options
    const keys: string[] = []
    for (const { names } of batch.waiting) for (const name of names) keys.push(name)
    const args = this.argsOf(batch)
    const sentAt = clock()
    try {
      const values = (await this.call(keys, args)) as readonly unknown[]
      // Below 0: the call came too late by the server's clock and did nothing. Unless we have given up, it was
      // not late: we did not know that clock yet, or it was set. It may go again.
      const isLate = Number(values[0]) < 0
      const now = Math.abs(Number(values[0]))
      this.serverTime.learn(now, sentAt, clock())
      if (!isLate) this.answer(batch, { values, next: 1, now })
      else if (mayRepeat && !batch.settled) await this.send(batch, false)
      else this.fail(batch, tooLate())
    } catch (cause) {
      this.fail(batch, storeError(cause))
    }
  }

  /** By the hash; the text goes out only when the server does not know it. Nothing else is sent twice. */
  private async call(keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const { connection } = this.options
    try {
      return await connection.evalsha(SCRIPT_HASH, keys, args)
    } catch (error) {
      if (!isNoScript(error)) throw error
      return connection.eval(SCRIPT, keys, args)
    }
  }

  private argsOf({ shapes, numbers, deadline }: Batch): readonly string[] {
    const { serverClock } = this.options
    // A call that sat in a hung server's socket until we had given up must do nothing any more.
    const latest = serverClock === undefined ? this.serverTime.at(deadline) : ANY_TIME
    const time = serverClock === undefined ? '' : String(serverClock())
    const args = [time, String(latest), String(shapes.length)]
    for (const shape of shapes) args.push(...shape.args)
    for (const number of numbers) args.push(String(number))
    return args
  }

  private answer(batch: Batch, reply: Reply): void {
    const isInTime = this.settle(batch)
    for (let i = 0; i < batch.waiting.length; i++) {
      const waiting = batch.waiting[i]!
      const verdicts = verdictsOf(batch.shapes[batch.numbers[i]! - 1]!, reply)
      if (!isInTime) this.giveBack(waiting, verdicts)
      else if (typeof verdicts === 'string') waiting.reject(storeError(verdicts))
      else waiting.resolve(verdicts)
    }
  }

  /** The server acted in time, but we had given up by the time we heard of it: whoever asked was told otherwise. */
  private giveBack(
    { operation, checks, names }: Waiting,
    verdicts: readonly Verdict[] | string,
  ): void {
    if (operation !== 'take' || typeof verdicts === 'string') return
    const charged = chargedOf(checks, verdicts)
    this.options.onLate?.(charged.length > 0)
    if (charged.length === 0) return
    const own = charged.map(({ index }) => names[index]!)
    const taken = charged.map(({ check }) => check)
    // When this fails too, the units stay charged until time gives them back.
    this.run('give', taken, own).catch(() => {})
  }

  private fail(batch: Batch, error: SluiceError): void {
    if (this.settle(batch)) for (const { reject } of batch.waiting) reject(error)
  }

  private giveUp(batch: Batch): void {
    this.fail(batch, tooLate(this.options.timeout))
  }

  /** True once. */
  private settle(batch: Batch): boolean {
    if (batch.settled) return false
    batch.settled = true
    this.inFlight -= 1
    this.timeouts.remove(batch)
    return true
  }
}

function tooLate(timeout?: Millis): SluiceError {
  const when = timeout === undefined ? 'in time' : `within ${timeout} ms`
  return new SluiceError('store-timeout', `Redis did not answer ${when}`, { transient: true })
}

/** The number of a request's shape, which is added when it is new. Most requests are like the one before. */
function numberOf(shapes: Shape[], operation: Operation, checks: readonly Check[]): number {
  for (let i = shapes.length; i > 0; i--) {
    if (hasShape(shapes[i - 1]!, operation, checks)) return i
  }
  return shapes.push(shapeOf(operation, checks))
}

function slotOfRequest({ names }: Waiting): number {
  return slotOf(names[0]!)
}

/** The requests in runs of a bounded number of checks. */
function* parted(waiting: readonly Waiting[]): Iterable<readonly Waiting[]> {
  let run: Waiting[] = []
  let checks = 0
  for (const one of waiting) {
    if (run.length > 0 && checks + one.checks.length > LARGEST_BATCH) {
      yield run
      run = []
      checks = 0
    }
    run.push(one)
    checks += one.checks.length
  }
  if (run.length > 0) yield run
}
