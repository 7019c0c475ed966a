// The operations of limiters over HTTP: each body is checked field by field before anything is counted, then one call of the library.
import { isPromise, type Attributes, type Decision, type MaybePromise } from 'sluice'
import { shown } from '../config/problem.ts'
import { limiterFor, type Limiters } from '../limiters/limiters.ts'
import { RequestError } from '../net/problem.ts'

type WriteDecision = (decision: Decision) => string

/** Answers one request, or one entry of a batch, with the JSON of its reply. Throws when the request is wrong. */
export type Operation = (
  limiters: Limiters,
  body: unknown,
  write: WriteDecision,
) => MaybePromise<string>

/** The operations of limiters, named like their methods. */
export const LIMITER_OPERATIONS: Readonly<
  Record<'check' | 'peek' | 'refund' | 'reset', Operation>
> = {
  check: decisionBy('check'),
  peek: decisionBy('peek'),
  refund(limiters, body) {
    const { policy, attributes, cost, takenAt, pools } = readCheck(body, true)
    return done(limiterFor(limiters, policy).refund(attributes, cost, takenAt, pools))
  },
  reset(limiters, body) {
    const { policy, attributes } = readCheck(body, false)
    return done(limiterFor(limiters, policy).reset(attributes))
  },
}

function decisionBy(method: 'check' | 'peek'): Operation {
  return (limiters, body, write) => {
    const { policy, attributes, cost } = readCheck(body, false)
    const decision = limiterFor(limiters, policy)[method](attributes, cost)
    return isPromise(decision) ? decision.then(write) : write(decision)
  }
}

function done(nothing: MaybePromise<void>): MaybePromise<string> {
  return isPromise(nothing) ? nothing.then(() => '{}') : '{}'
}

/** One request, or one entry of a batch. */
interface CheckRequest {
  readonly policy: string | undefined
  readonly attributes: Attributes | string
  readonly cost: number | undefined
  readonly takenAt: number | undefined
  /** For refunds: the pools that paid, by their rules. The library checks the names. */
  readonly pools: Readonly<Record<string, string>> | undefined
}

/** Reads one request; `takesInstant` says whether `takenAt` is accepted. The library checks the values inside. */
function readCheck(body: unknown, takesInstant: boolean): CheckRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new RequestError(
      400,
      'invalid-body',
      'the body is not an object; accepted: { attributes } or { key }, or { checks: [...] }',
    )
  let policy: unknown
  let attributes: unknown
  let key: unknown
  let cost: unknown
  let takenAt: unknown
  let pools: unknown
  // Not Object.entries: it makes a list for each request.
  for (const name in body) {
    const value = (body as Readonly<Record<string, unknown>>)[name]
    if (name === 'policy') policy = value
    else if (name === 'attributes') attributes = value
    else if (name === 'key') key = value
    else if (name === 'cost') cost = value
    else if (name === 'takenAt' && takesInstant) takenAt = value
    else if (name === 'pools' && takesInstant) pools = value
    else
      throw wrongField(
        name,
        `not a known field; accepted: policy, attributes, key, cost${takesInstant ? ', takenAt, pools' : ''}`,
      )
  }
  if (policy !== undefined && typeof policy !== 'string')
    throw wrongField('policy', `${shown(policy)}; accepted: the name of a policy`)
  if (cost !== undefined && typeof cost !== 'number')
    throw wrongField('cost', `${shown(cost)}; accepted: a whole number of units`)
  if (takenAt !== undefined && typeof takenAt !== 'number')
    throw wrongField('takenAt', `${shown(takenAt)}; accepted: the decision's at, in milliseconds`)
  if (pools !== undefined && !isNames(pools))
    throw wrongField('pools', `${shown(pools)}; accepted: the decision's pools, by their rules`)
  return { policy, attributes: attributesOrKey(attributes, key), cost, takenAt, pools }
}

function isNames(value: unknown): value is Readonly<Record<string, string>> {
  const isTable = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isTable && Object.values(value).every((name) => typeof name === 'string')
}

/** The caller of a request: its attributes, or its key alone. */
export function attributesOrKey(attributes: unknown, key: unknown): Attributes | string {
  if (key !== undefined) {
    if (attributes !== undefined)
      throw wrongField('key', 'given beside attributes; accepted: one of the two')
    if (typeof key !== 'string') throw wrongField('key', `${shown(key)}; accepted: a string`)
    return key
  }
  if (attributes === undefined)
    throw wrongField('attributes', 'missing; accepted: attributes or key')
  if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes))
    throw wrongField(
      'attributes',
      `${shown(attributes)}; accepted: an object such as {"user":"42"}`,
    )
  return attributes as Attributes
}

/** The error of one field of a body. */
export function wrongField(field: string, is: string): RequestError {
  const name = field.length > 60 ? `${field.slice(0, 57)}...` : field
  return new RequestError(400, 'invalid-body', `${name} is ${is}`, name)
}
