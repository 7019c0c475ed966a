// The operations of budgets and slots over HTTP: each body is checked field by field, then passed to one call of the library.
import { isPromise, type Attributes, type MaybePromise } from 'sluice'
import { reservationPolicy, type Reservation, type Slot, type Usage } from 'sluice/budgets'
import { shown } from '../config/problem.ts'
import { limiterFor, type Limiters, type ServiceBudget } from '../limiters/limiters.ts'
import { RequestError } from '../net/problem.ts'
import { decisionJson } from './decision-json.ts'
import { attributesOrKey, wrongField, type Operation } from './operations.ts'

type BudgetOperationName = 'reserve' | 'settle' | 'extend' | 'cancel' | 'enter' | 'leave'

type Body = Readonly<Record<string, unknown>>

/** The fields of each body, besides `policy`. */
const FIELDS: Readonly<Record<BudgetOperationName, readonly string[]>> = {
  reserve: ['attributes', 'key', 'estimate'],
  settle: ['id', 'actual'],
  extend: ['id'],
  cancel: ['id'],
  enter: ['attributes', 'key', 'cost'],
  leave: ['id'],
}

type BudgetOperation = (budget: ServiceBudget, body: Body) => MaybePromise<string>

const CALLS: Readonly<Record<BudgetOperationName, BudgetOperation>> = {
  reserve: (budget, body) =>
    written(budget.reserve(subjectIn(body), numberIn(body, 'estimate')), reservationJson),
  settle: (budget, body) => written(budget.settle(idIn(body), actualIn(body)), JSON.stringify),
  extend: (budget, body) => written(budget.extend(idIn(body)), JSON.stringify),
  cancel: (budget, body) => written(budget.cancel(idIn(body)), JSON.stringify),
  // The caller renews the slot by `extend`: the service cannot know how long the work goes on.
  enter: (budget, body) =>
    written(budget.enter(subjectIn(body), numberIn(body, 'cost'), false), slotJson),
  leave: (budget, body) => written(budget.leave(idIn(body)), () => '{}'),
}

/** The operations of budgets and slots, named like their methods. */
export const BUDGET_OPERATIONS: Readonly<Record<BudgetOperationName, Operation>> = {
  reserve: (limiters, body) => answerBudget('reserve', limiters, body),
  settle: (limiters, body) => answerBudget('settle', limiters, body),
  extend: (limiters, body) => answerBudget('extend', limiters, body),
  cancel: (limiters, body) => answerBudget('cancel', limiters, body),
  enter: (limiters, body) => answerBudget('enter', limiters, body),
  leave: (limiters, body) => answerBudget('leave', limiters, body),
}

function answerBudget(
  name: BudgetOperationName,
  limiters: Limiters,
  body: unknown,
): MaybePromise<string> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new RequestError(400, 'invalid-body', 'the body is not an object')
  const accepted = ['policy', ...FIELDS[name]]
  for (const field of Object.keys(body))
    if (!accepted.includes(field))
      throw wrongField(field, `not a known field; accepted: ${accepted.join(', ')}`)
  const { policy } = body as Body
  if (policy !== undefined && typeof policy !== 'string')
    throw wrongField('policy', `${shown(policy)}; accepted: the name of a policy`)
  const needsId = FIELDS[name].includes('id')
  const ofId = needsId ? reservationPolicy(idIn(body as Body)) : undefined
  const { budget, hasSlots } = limiterFor(limiters, policy ?? ofId)
  if (budget === undefined)
    throw new RequestError(
      400,
      'invalid-body',
      "no rule of the policy has hold; add hold: '60s' to a rule, or use /v1/check",
      'policy',
    )
  if (name === 'enter' && hasSlots !== true)
    throw new RequestError(
      400,
      'invalid-body',
      'no rule of the policy has concurrency; add it to a rule, or use /v1/reserve',
      'policy',
    )
  return CALLS[name](budget, body as Body)
}

function subjectIn({ attributes, key }: Body): Attributes | string {
  return attributesOrKey(attributes, key)
}

function idIn({ id }: Body): string {
  if (typeof id === 'string') return id
  throw wrongField(
    'id',
    `${id === undefined ? 'missing' : shown(id)}; accepted: the id of a reservation`,
  )
}

function numberIn(body: Body, field: string): number | undefined {
  const value = body[field]
  if (value === undefined || isUnits(value)) return value
  throw wrongField(field, `${shown(value)}; accepted: a whole number of units, 0 to 2^53 - 1`)
}

function isUnits(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

const KINDS = ['input', 'cached', 'output']

function actualIn({ actual }: Body): number | Usage {
  if (isUnits(actual)) return actual
  const isUsage =
    typeof actual === 'object' &&
    actual !== null &&
    Object.entries(actual).every(([kind, tokens]) => KINDS.includes(kind) && isUnits(tokens))
  if (isUsage) return actual as Usage
  const found = actual === undefined ? 'missing' : shown(actual)
  throw wrongField(
    'actual',
    `${found}; accepted: a whole number of units, or { ${KINDS.join(', ')} }`,
  )
}

function reservationJson({ allowed, id, units, endsAt, decision }: Reservation): string {
  const head = JSON.stringify({ allowed, id, units, endsAt })
  return `${head.slice(0, -1)},"decision":${decisionJson(decision)}}`
}

function slotJson({ allowed, id, decision }: Slot): string {
  return `${JSON.stringify({ allowed, id }).slice(0, -1)},"decision":${decisionJson(decision)}}`
}

function written<T>(answer: MaybePromise<T>, write: (answer: T) => string): MaybePromise<string> {
  return isPromise(answer) ? answer.then(write) : write(answer)
}
