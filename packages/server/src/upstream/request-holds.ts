// Requests that hold units while they are answered: tokens of LLM routes, and slots. Settled at the end, whatever the end is.
import type { IncomingMessage } from 'node:http'
import { isPromise, type Attributes, type Decision, type MaybePromise, type Millis } from 'sluice'
import { limiterWith } from 'sluice/http'
import type { Reservation, Usage } from 'sluice/budgets'
import type { ServiceBudget, ServiceLimiter } from '../limiters/limiters.ts'
import { UsageMeter } from './usage-meter.ts'

/** What was known of the tokens of a response; `failed`: the upstream generated nothing. */
export type UsageResult = 'read' | 'unknown' | 'failed'

/** What a request holds. Every method is safe to call at any time, and the first end counts. */
export interface HeldRequest {
  /** Whether the answer is read, and so must not be compressed. */
  readonly isMetered: boolean
  /** Reads the tokens of an answer while it is forwarded. */
  meter(answer: IncomingMessage): void
  /** The answer has ended, or the client has left. */
  end(): void
  /** The upstream was not asked, or failed before it answered: nothing is charged. */
  cancel(): void
}

/** Where requests hold units. */
export interface RequestHoldsOptions {
  /** The paths of LLM APIs; one that ends with `*` matches all paths with that prefix. */
  readonly llm: readonly string[]
  readonly onUsage: (result: UsageResult) => void
  readonly onError: (error: unknown) => void
}

/** Chooses how a request is decided. */
export interface RequestHolds {
  /** The limiter to guard a request with: the given one, or one that reserves or enters. */
  limiterFor(limiter: ServiceLimiter, target: string): ServiceLimiter
  /** What the decision of a request holds; undefined for a plain one. */
  heldBy(decision: Decision | null): HeldRequest | undefined
}

/** Makes the part of the gateway that holds units. */
export function createRequestHolds(options: RequestHoldsOptions): RequestHolds {
  const held = new WeakMap<Decision, HeldRequest>()
  const reserving = new WeakMap<ServiceLimiter, ServiceLimiter>()
  const entering = new WeakMap<ServiceLimiter, ServiceLimiter>()
  const isLlm = pathMatcher(options.llm)
  const noted = (request: HeldRequest, decision: Decision): Decision => {
    held.set(decision, request)
    return decision
  }
  const reserve = (budget: ServiceBudget) => (attributes: Attributes | string) =>
    after(budget.reserve(attributes), (reservation) =>
      reservation.allowed
        ? noted(new HeldTokens(budget, reservation, options), reservation.decision)
        : reservation.decision,
    )
  const enter = (budget: ServiceBudget) => (attributes: Attributes | string, cost?: number) =>
    after(budget.enter(attributes, cost), ({ id, decision }) => {
      if (id === '') return decision
      const leave = once(() => run(() => budget.leave(id), options.onError))
      return noted({ isMetered: false, meter: () => {}, end: leave, cancel: leave }, decision)
    })
  return {
    limiterFor(limiter, target) {
      const { budget } = limiter
      if (budget === undefined) return limiter
      if (isLlm(target)) return known(reserving, limiter, () => reserve(budget))
      return limiter.hasSlots === true ? known(entering, limiter, () => enter(budget)) : limiter
    },
    heldBy: (decision) => (decision === null ? undefined : held.get(decision)),
  }
}

type CheckFunction = (attributes: Attributes | string, cost?: number) => MaybePromise<Decision>

function known(
  cache: WeakMap<ServiceLimiter, ServiceLimiter>,
  limiter: ServiceLimiter,
  check: () => CheckFunction,
): ServiceLimiter {
  let made = cache.get(limiter)
  if (made === undefined) {
    made = limiterWith(limiter, check()) as ServiceLimiter
    cache.set(limiter, made)
  }
  return made
}

/** A reservation is extended so many times within its life, so that a long stream does not lose it. */
const EXTENSIONS = 2

class HeldTokens implements HeldRequest {
  readonly isMetered = true
  private readonly budget: ServiceBudget
  private readonly reservation: Reservation
  private readonly options: RequestHoldsOptions
  private readonly timer: NodeJS.Timeout | undefined
  private meterOf: UsageMeter | undefined
  private status = 0
  private isOver = false

  constructor(budget: ServiceBudget, reservation: Reservation, options: RequestHoldsOptions) {
    this.budget = budget
    this.reservation = reservation
    this.options = options
    const { endsAt, decision, id } = reservation
    const life: Millis = endsAt - decision.at
    if (endsAt > 0)
      this.timer = setInterval(
        () => run(() => budget.extend(id), options.onError),
        life / EXTENSIONS,
      ).unref()
  }

  meter(answer: IncomingMessage): void {
    const { 'content-type': type, 'content-encoding': encoding } = answer.headers
    const meter = new UsageMeter(type, encoding)
    this.meterOf = meter
    this.status = answer.statusCode ?? 0
    if (meter.isReadable) answer.on('data', (bytes: Buffer) => meter.read(bytes))
  }

  end(): void {
    const usage = this.meterOf?.usage
    if (usage !== undefined) this.settle(usage, 'read')
    // An error without usage: the API has generated nothing.
    else if (this.status >= 400) this.cancel()
    else this.settle(this.reservation.units, 'unknown')
  }

  cancel(): void {
    this.finish('failed', () => this.budget.cancel(this.reservation.id))
  }

  private settle(actual: number | Usage, result: UsageResult): void {
    this.finish(result, () => this.budget.settle(this.reservation.id, actual))
  }

  private finish(result: UsageResult, book: () => MaybePromise<unknown>): void {
    if (this.isOver) return
    this.isOver = true
    clearInterval(this.timer)
    this.options.onUsage(result)
    run(book, this.options.onError)
  }
}

/** Books without letting the response wait. */
function run(book: () => MaybePromise<unknown>, onError: (error: unknown) => void): void {
  try {
    const booked = book()
    if (isPromise(booked)) booked.catch(onError)
  } catch (error) {
    onError(error)
  }
}

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) act()
    isDone = true
  }
}

/** Whether a target is one of the paths. Spellings that a server may take for the same path match too, so that none avoids the budget. */
function pathMatcher(paths: readonly string[]): (target: string) => boolean {
  if (paths.length === 0) return () => false
  const exact = new Set<string>()
  const beginnings: string[] = []
  for (const path of paths)
    if (path.endsWith('*')) beginnings.push(path.slice(0, -1).toLowerCase())
    else exact.add(plainPath(path))
  return (target) => {
    const path = plainPath(target)
    return exact.has(path) || beginnings.some((beginning) => path.startsWith(beginning))
  }
}

function plainPath(target: string): string {
  let path = target.split(/[?#]/, 1)[0]!
  try {
    path = decodeURIComponent(path)
  } catch {
    // Not decodable: compared as it is.
  }
  const parts: string[] = []
  for (const part of path.toLowerCase().split(/[/\\]+/))
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  return `/${parts.join('/')}`
}

function after<T, U>(value: MaybePromise<T>, then: (value: T) => U): MaybePromise<U> {
  return isPromise(value) ? value.then(then) : then(value)
}
