// The requests of one script call, and their answers.
import { SluiceError } from '../errors.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Millis } from '../time/clock.ts'
import { storeError } from './redis-errors.ts'
import { answerOf, misread, numberIn, type Reply } from './reply.ts'
import { TAKE_ALL, TAKE_BUCKETS, TAKE_EACH, type Script } from './script.generated.ts'
import { addHoldArgs, areEachIds, eachId, type SettleCheck, type Shape } from './shape.ts'
import type { Check } from '../stores/store.ts'
import type { Settled } from '../stores/holds/hold-store.ts'

/** The answer to a request, or the server's error as a string. */
export type Answer = readonly Verdict[] | readonly Settled[] | string

/** Shapes in one call are numbered by the characters from this code on. */
const ZERO = 48

/** The place of the time among the arguments of take-each.lua. */
const TIME = 6

/** One script call. Its names are all in one cluster slot. */
export class Batch {
  /** The names of all checks, request after request. */
  readonly names: string[] = []
  /** The cluster slot of its names; without a cluster 0. */
  slot = 0
  /** When we give up, by our own clock. */
  deadline: Millis = 0
  /** The last instant of the server at which it may act, 0 for any. */
  latest: Millis = 0
  /** How long the process had stood still when that was set. Undefined in calls that left after the first answer. */
  standstill: Millis | undefined = undefined
  /** Its place among the calls that wait for an answer. */
  before: Batch | null = null
  after: Batch | null = null
  settled = false
  /** Resolves when the answers are there, or the failure. Never rejects. */
  readonly done: Promise<void>
  readonly shapes: Shape[] = []
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
  /** The script that {@link argsFor} made arguments for. */
  script: Script = TAKE_ALL
  /** The epoch of the store: a number behind the answers. */
  epoch: number | undefined
  private readonly answers: Answer[] = []
  private failure: SluiceError | undefined
  private finish!: () => void

  constructor() {
    this.done = new Promise((resolve) => {
      this.finish = resolve
    })
  }

  /** Adds a request and returns its number. */
  add(shape: Shape, names: readonly string[], checks: readonly Check[]): number {
    let number = this.shapes.lastIndexOf(shape) + 1
    if (number === 0) number = this.shapes.push(shape)
    // The short ways read every count of a request before they write one, so no count may be there twice.
    const isTwice = names.length > 1 && hasTwins(names)
    if (shape.plainArgs === undefined || isTwice) this.isPlain = false
    if (!shape.isSimple || isTwice) this.isSimple = false
    if (shape.eachNumbers === undefined) this.isEach = false
    else if (this.isEach) this.addEach(checks[0]!)
    if (!shape.isLease || !isOneName(names)) this.isLease = false
    if (shape.operation !== 'refund' && shape.operation !== 'settle') this.mayActLate = false
    for (const name of names) this.names.push(name)
    if (shape.hasHolds) (this.ownChecks ??= [])[this.numbers.length] = checks
    return this.numbers.push(number) - 1
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
    // Single takes that are all alike.
    const single = this.isPlain && shapes.length === 1 ? shapes[0]!.singleArgs : undefined
    if (single !== undefined) {
      this.script = TAKE_EACH
      const args = [String(latest)]
      for (const arg of single) args.push(arg)
      if (time === '') return args
      while (args.length < TIME) args.push('')
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

  /** Reads the answer of the script, decided at this server time. Throws if it is none. */
  read(values: readonly unknown[], now: Millis): void {
    const reply: Reply = { values, next: 1, now, isPlain: this.isPlain, isEach: this.isEach }
    const { shapes, numbers } = this
    for (let i = 0; i < numbers.length; i++) {
      const shape = shapes[numbers[i]! - 1]!
      const checks = shape.hasHolds ? this.checksOf(i) : shape.checks
      this.answers.push(answerOf(shape, checks, reply))
    }
    const left = values.length - reply.next
    if (left === 1 && this.hasLeases) this.epoch = numberIn(values[reply.next])
    else if (left !== 0) throw misread(values)
  }

  /** Whether a replica answered, which takes no writes. */
  get isOfReplica(): boolean {
    return this.answers.some(
      (answer) => typeof answer === 'string' && answer.startsWith('READONLY'),
    )
  }

  /** Settles all requests, with their answers or with the failure. */
  settle(failure?: SluiceError): void {
    this.settled = true
    this.failure = failure
    this.finish()
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

  /** Visits every request with its names and its answer. */
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
    for (const number of this.numbers) text += String.fromCharCode(ZERO + number)
    return text
  }
}

function isOneName(names: readonly string[]): boolean {
  for (let i = 1; i < names.length; i++) if (names[i] !== names[0]) return false
  return true
}

function hasTwins(names: readonly string[]): boolean {
  for (let i = 1; i < names.length; i++) {
    for (let j = 0; j < i; j++) if (names[i] === names[j]) return true
  }
  return false
}
