// The requests of one script call, their answers, and until when the call may act.
import { SluiceError } from '../errors.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Millis } from '../time/clock.ts'
import { storeError } from './redis-errors.ts'
import { answerOf, misread, numberFrom, type Reply } from './reply.ts'
import { TAKE_ALL, TAKE_BUCKETS, TAKE_EACH, type Script } from './script.generated.ts'
import {
  addHoldArgs,
  areEachIds,
  eachId,
  type Operation,
  type SettleCheck,
  type Shape,
  type SentCheck,
} from './shape.ts'
import type { ScriptCall } from './shared-connection.ts'
import type { Check, Hold } from '../stores/store.ts'
import type { Settled, Settlement } from '../stores/holds/hold-store.ts'

/** The answer to a request, or the server's error as a string. */
export type Answer = readonly Verdict[] | readonly Settled[] | string

const NONE: readonly never[] = []

/** Shapes in one call are numbered by the characters from this code on. */
const CODE_OF_ZERO = 48

/** The place of the time among the arguments of take-each.lua. */
const TIME_INDEX = 6

/** As a deadline: none. */
export const ANY_TIME = 0
/** As a deadline: one that has passed on every server, so that the call only reads the time. */
const PAST = 1

/** Both clocks are read in whole milliseconds: a difference of two readings may be that much too large. */
const ROUNDING = 2

/**
 * How far the server's clock is ahead of ours: never more than it really is, so that no call acts after its
 * deadline, and as near to it as the quickest answer allows.
 */
export class ServerTime {
  private ahead: Millis | undefined

  /** The server's time at an instant of ours, or a little before. Long past while the server has never answered. */
  at(instant: Millis): Millis {
    return this.ahead === undefined ? PAST : instant + this.ahead
  }

  /** The server said `now` at some moment between two instants of ours. */
  learn(now: Millis, sentAt: Millis, receivedAt: Millis): void {
    const least = now - receivedAt - ROUNDING
    const most = now - sentAt
    // Above what is possible now: the server's clock was set back, or another server answers.
    if (this.ahead === undefined || least > this.ahead || this.ahead > most) this.ahead = least
  }
}

/** One script call. Its names are all in one cluster slot. */
export class Batch implements ScriptCall {
  /** The names of all checks, request after request. */
  readonly names: string[] = []
  /** The cluster slot of its names; without a cluster 0. */
  readonly slot: number
  /** The clock of the server that has this slot. */
  readonly serverTime: ServerTime
  /** The script that {@link argsFor} made arguments for, and these. */
  script: Script = TAKE_ALL
  args: readonly string[] = NONE
  isByText = false
  /** When it was sent last, by our own clock. */
  sentAt: Millis = 0
  /** When we give up, by our own clock. */
  deadline: Millis = 0
  /** The last instant of the server at which it may act, {@link ANY_TIME} for any. */
  latest: Millis = ANY_TIME
  /** Whether it was sent a second time, since it came too late by the server's clock. */
  isRepeated = false
  /** How long the process had been paused when the deadline was set. Undefined in calls that left after the first answer. */
  pausesAtStart: Millis | undefined = undefined
  /** Its place among the calls that wait for an answer. */
  before: Batch | null = null
  after: Batch | null = null
  isFinished = false
  /** Why the whole call failed. To be set before {@link finish}. */
  failure: SluiceError | undefined = undefined
  /** Resolves when the answers are there, or the failure. Never rejects. */
  readonly done: Promise<void>
  /** Resolves {@link done}. */
  finish!: () => void
  readonly shapes: Shape[] = []
  /** The number of the request that was added last. */
  newest = -1
  /** For each request the number of its shape, from 1. */
  private readonly numbers: number[] = []
  /** By request its checks, if they have holds and differ within a shape; made for the first of them. */
  private ownChecks: (readonly Check[] | undefined)[] | undefined = undefined
  private isPlain = true
  private isSimple = true
  /** Whether hold-each.lua can read every request; then their ids and units, one after the other. */
  private isEach = true
  private readonly eachIds: string[] = []
  private readonly eachUnits: number[] = []
  private isLease = true
  /** Whether the call may act after we have given it up: it only hands back units, or reports those that were spent. */
  mayActLate = true
  /** The epoch of the store, sent after the answers. */
  epoch: number | undefined
  /** Whether a replica answered, which takes no writes. */
  isOfReplica = false
  private readonly answers: Answer[] = []

  constructor(slot: number, serverTime: ServerTime) {
    this.slot = slot
    this.serverTime = serverTime
    this.done = new Promise((resolve) => {
      this.finish = resolve
    })
  }

  /** Adds a request on the counts of these names; one of a single count has only the first. */
  add(
    shape: Shape,
    checks: readonly Check[],
    firstName: string,
    all: readonly string[] | undefined,
  ): void {
    const { names, numbers } = this
    const first = names.length
    let hasRepeatedName = false
    let isOneName = true
    names.push(firstName)
    for (let i = 1; i < checks.length; i++) {
      const name = all![i]!
      if (names.includes(name, first)) hasRepeatedName = true
      if (name !== firstName) isOneName = false
      names.push(name)
    }
    let number = this.shapes.lastIndexOf(shape) + 1
    if (number === 0) number = this.shapes.push(shape)
    // The short ways read every count of a request before they write one, so no count may be there twice.
    if (shape.plainArgs === undefined || hasRepeatedName) this.isPlain = false
    if (!shape.isSimple || hasRepeatedName) this.isSimple = false
    if (shape.eachNumbers === undefined) this.isEach = false
    else if (this.isEach) this.addEach(checks[0]!)
    if (!shape.isLease || !isOneName) this.isLease = false
    if (shape.operation !== 'refund' && shape.operation !== 'settle') this.mayActLate = false
    if (shape.hasHolds) (this.ownChecks ??= [])[numbers.length] = checks
    this.newest = numbers.push(number) - 1
  }

  private addEach(check: Check | SettleCheck): void {
    const id = eachId(check)
    if (id === '') this.isEach = false
    this.eachIds.push(id)
    this.eachUnits.push('settlement' in check ? check.settlement.spent : check.cost)
  }

  /** Whether it may lease units. */
  get hasLeases(): boolean {
    return this.shapes.some(({ checks }) => checks.some(({ leaseLife }) => leaseLife !== undefined))
  }

  /**
   * Chooses the script, and makes its arguments; `time` is '' for the server's own, `latest` the last instant at which it may act, `marker` the key
   * that tells whether the server may lease in this slot of a cluster.
   */
  argsFor(time: string, latest: Millis, marker?: string): readonly string[] {
    const { shapes, numbers } = this
    // Single takes of one shape.
    const single = this.isPlain && shapes.length === 1 ? shapes[0]!.singleArgs : undefined
    if (single !== undefined) {
      this.script = TAKE_EACH
      const args = [String(latest)]
      for (const arg of single) args.push(arg)
      if (time === '') return args
      while (args.length < TIME_INDEX) args.push('')
      args.push(time)
      return args
    }
    if (this.isPlain) {
      this.script = TAKE_BUCKETS
      const args = [time, String(latest), shapes.length === 1 ? '' : this.numbersText()]
      for (const { plainArgs } of shapes) for (const arg of plainArgs!) args.push(arg)
      return args
    }
    const ids = this.isEach ? this.eachIds.join('') : ''
    this.isEach &&= areEachIds(ids)
    if (this.isEach) {
      const which = shapes.length === 1 ? '' : this.numbersText()
      let numbers = this.eachUnits.join(',')
      for (const { eachNumbers } of shapes) numbers += `,${eachNumbers}`
      return [`h${time}`, String(latest), which, ids, `[${numbers}]`]
    }
    const short = this.isSimple ? '1' : this.isLease ? '2' : ''
    const args = [time, String(latest), String(shapes.length), short, this.numbersText()]
    for (const shape of shapes) for (const arg of shape.args) args.push(arg)
    for (let i = 0; i < numbers.length; i++) {
      const own = this.ownChecks?.[i]
      if (own !== undefined) addHoldArgs(args, own)
    }
    if (marker !== undefined) args.push(marker)
    return args
  }

  /**
   * Reads what the script returned, received at an instant of ours. Throws if it is none of its replies. Returns false if the
   * call came too late by the server's clock, and did nothing.
   */
  read(values: unknown, receivedAt: Millis): boolean {
    if (!Array.isArray(values)) throw misread(values)
    const { shapes, numbers, serverTime, sentAt, latest, isPlain, isEach } = this
    const reply: Reply = { values, next: 0, now: 0, isPlain, isEach }
    // The time of the server; negative if that was too late.
    const first = numberFrom(reply)
    const isLate = first < 0
    const now = Math.abs(first)
    if (isLate !== (latest !== ANY_TIME && now > latest)) throw misread(values)
    if (isLate) {
      serverTime.learn(now, sentAt, receivedAt)
      return false
    }
    reply.now = now
    for (let i = 0; i < numbers.length; i++) {
      const shape = shapes[numbers[i]! - 1]!
      const checks = shape.hasHolds ? this.checksOf(i) : shape.checks
      const answer = answerOf(shape, checks, reply)
      if (typeof answer === 'string' && answer.startsWith('READONLY')) this.isOfReplica = true
      this.answers.push(answer)
    }
    const left = values.length - reply.next
    if (left === 1 && this.hasLeases) this.epoch = numberFrom(reply)
    else if (left !== 0) throw misread(values)
    serverTime.learn(now, sentAt, receivedAt)
    return true
  }

  /** The answer to a request, the failure of the call, or that of the request alone. */
  resultOf(request: number): Exclude<Answer, string> | SluiceError {
    if (this.failure !== undefined) return this.failure
    const answer = this.answers[request]!
    return typeof answer === 'string' ? storeError(answer) : answer
  }

  /** The answer to a request. Throws a failure. */
  answerTo(request: number): Exclude<Answer, string> {
    const answer = this.resultOf(request)
    if (answer instanceof SluiceError) throw answer
    return answer
  }

  /**
   * Visits every request with its names and its answer. The checks may be those of another request of the same shape, on
   * other counts.
   */
  forEach(
    visit: (
      shape: Shape,
      checks: readonly Check[],
      names: readonly string[],
      answer: Answer,
    ) => void,
  ): void {
    let first = 0
    for (const [i, number] of this.numbers.entries()) {
      const shape = this.shapes[number - 1]!
      const end = first + shape.checks.length
      visit(shape, this.checksOf(i), this.names.slice(first, end), this.answers[i]!)
      first = end
    }
  }

  private checksOf(request: number): readonly Check[] {
    return this.ownChecks?.[request] ?? this.shapes[this.numbers[request]! - 1]!.checks
  }

  private numbersText(): string {
    let text = ''
    for (const number of this.numbers) text += String.fromCharCode(CODE_OF_ZERO + number)
    return text
  }
}

/** The newest of the shapes that fits a request. */
export function knownShape(
  shapes: readonly Shape[],
  operation: Operation,
  checks: readonly Check[],
): Shape | undefined {
  for (let i = shapes.length - 1; i >= 0; i--) {
    const shape = shapes[i]!
    if (shape.operation !== operation || shape.checks.length !== checks.length) continue
    let matching = 0
    while (matching < checks.length && isSameShape(checks[matching]!, shape.checks[matching]!))
      matching++
    if (matching === checks.length) return shape
  }
  return undefined
}

function isSameShape(
  a: SentCheck & Partial<SettleCheck>,
  b: SentCheck & Partial<SettleCheck>,
): boolean {
  if (a.partial !== b.partial || a.limit !== b.limit || a.holds !== b.holds) return false
  if (a.partial === true) return isSamePartShape(a, b)
  return (
    a.lastState === b.lastState &&
    (a.cost === b.cost || a.holds === true) &&
    (a.hold === b.hold || isSameHoldShape(a.hold, b.hold)) &&
    a.leaseLife === b.leaseLife &&
    a.booked === b.booked &&
    (a.settlement === b.settlement || isSameSettlementShape(a.settlement, b.settlement)) &&
    a.slowestQuota === b.slowestQuota &&
    a.takenAt === b.takenAt &&
    a.leavesTrace === b.leavesTrace &&
    a.isPool === b.isPool &&
    a.once === b.once &&
    (a.shadow ?? false) === (b.shadow ?? false) &&
    (a.candidate ?? false) === (b.candidate ?? false) &&
    (a.countRefused ?? false) === (b.countRefused ?? false)
  )
}

/** The same for parts, of which there are many: they never have the other fields. */
function isSamePartShape(a: SentCheck, b: SentCheck): boolean {
  return (
    (a.cost === 1) === (b.cost === 1) &&
    a.leaseLife === b.leaseLife &&
    a.slowestQuota === b.slowestQuota &&
    a.booked === b.booked &&
    a.shadow === b.shadow
  )
}

function isSameHoldShape(a: Hold | undefined, b: Hold | undefined): boolean {
  if (a === undefined || b === undefined) return false
  return (
    a.life === b.life &&
    a.onEnd === b.onEnd &&
    a.fair === b.fair &&
    a.late === b.late &&
    a.isNew === b.isNew
  )
}

function isSameSettlementShape(a: Settlement | undefined, b: Settlement | undefined): boolean {
  if (a === undefined || b === undefined) return false
  return a.keep === b.keep && a.life === b.life && (a.debt ?? 0) === (b.debt ?? 0)
}
