// Checks that what the decision service answered is a decision, before any code relies on its fields.
import type { Decision } from '../decision/decision.ts'
import { show, SluiceError } from '../errors.ts'

type Fields = Readonly<Record<string, unknown>>
type Check = (value: unknown) => boolean

const isBoolean: Check = (value) => typeof value === 'boolean'
const isString: Check = (value) => typeof value === 'string'
const isNumber: Check = (value) => typeof value === 'number' && value >= 0
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const shaped =
  (shape: Readonly<Record<string, Check>>): Check =>
  (value) =>
    wrongField(value, shape) === undefined

const LIMIT = { algorithm: isString, quota: isNumber, window: isNumber, burst: isNumber }

/** The fields that every outcome has. */
const OUTCOME = {
  rule: isString,
  limit: shaped(LIMIT),
  cost: isNumber,
  allowed: isBoolean,
  remaining: isNumber,
  retryAfter: orNull(isNumber),
  resetAfter: isNumber,
  delay: isNumber,
  at: isNumber,
  source: isString,
  shadow: isBoolean,
  hidden: isBoolean,
}

/** The fields of a decision, in the order in which they are documented. Unknown fields are kept. */
const DECISION = {
  allowed: isBoolean,
  reason: isString,
  rule: orNull(isString),
  limit: orNull(shaped(LIMIT)),
  // JSON has no Infinity.
  remaining: orNull(isNumber),
  retryAfter: orNull(isNumber),
  resetAfter: isNumber,
  delay: isNumber,
  at: isNumber,
  degraded: isBoolean,
  cause: optional(isString),
  outcomes: optional(listOf(shaped(OUTCOME))),
  skipped: optional(listOf(shaped({ rule: isString }))),
}

/** The decision in an answer of the service. Throws `store-failed`, which a fallback handles, if it is incomplete. */
export function readDecision(answer: unknown): Decision {
  const wrong = wrongField(answer, DECISION)
  if (wrong !== undefined) {
    const found =
      wrong === '' ? show(answer) : `a decision whose ${wrong} is ${shown(answer, wrong)}`
    throw new SluiceError('store-failed', `the decision service answered ${found}`)
  }
  const decision = answer as Decision
  const { remaining, outcomes, skipped } = answer as Partial<Decision>
  return {
    ...decision,
    remaining: remaining ?? Infinity,
    outcomes: outcomes ?? [],
    skipped: skipped ?? [],
  }
}

/** The first field that does not fit; '' if the value is no object; undefined if all fit. */
function wrongField(value: unknown, shape: Readonly<Record<string, Check>>): string | undefined {
  if (typeof value !== 'object' || value === null) return ''
  for (const name in shape) if (!shape[name]!((value as Fields)[name])) return name
  return undefined
}

function shown(answer: unknown, field: string): string {
  const value = (answer as Fields)[field]
  return value === undefined ? 'missing' : show(value)
}
