// The operations of the API, on the limiters in force when the request came.
import { isPromise, type Decision, type MaybePromise } from 'sluice'
import { limiterFor, type Limiters } from '../limiters/limiters.ts'
import { answerBudget, type BudgetOperationName } from './budget-operations.ts'
import { answerBatch } from './batch.ts'
import { batchOf, readCheck } from './check-request.ts'
import { briefDecisionJson, decisionJson } from './decision-json.ts'
import { problemOfError, type Problem } from '../net/problem.ts'

/** Named like the limiter's and the budget's own methods. */
export type OperationName = 'check' | 'peek' | 'refund' | 'reset' | BudgetOperationName

type WriteDecision = (decision: Decision) => string

/** Answers one request, or one entry of a batch, with the JSON of its reply. */
type Operation = (limiters: Limiters, body: unknown, write: WriteDecision) => MaybePromise<string>

const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  check(limiters, body, write) {
    const { policy, attributes, cost } = readCheck(body, false)
    return written(limiterFor(limiters, policy).check(attributes, cost), write)
  },
  peek(limiters, body, write) {
    const { policy, attributes, cost } = readCheck(body, false)
    return written(limiterFor(limiters, policy).peek(attributes, cost), write)
  },
  refund(limiters, body) {
    const { policy, attributes, cost, takenAt, pools } = readCheck(body, true)
    return done(limiterFor(limiters, policy).refund(attributes, cost, takenAt, pools))
  },
  reset(limiters, body) {
    const { policy, attributes } = readCheck(body, false)
    return done(limiterFor(limiters, policy).reset(attributes))
  },
  reserve: (limiters, body) => answerBudget('reserve', limiters, body),
  settle: (limiters, body) => answerBudget('settle', limiters, body),
  extend: (limiters, body) => answerBudget('extend', limiters, body),
  cancel: (limiters, body) => answerBudget('cancel', limiters, body),
  enter: (limiters, body) => answerBudget('enter', limiters, body),
  leave: (limiters, body) => answerBudget('leave', limiters, body),
}

function written(decision: MaybePromise<Decision>, write: WriteDecision): MaybePromise<string> {
  return isPromise(decision) ? decision.then(write) : write(decision)
}

function done(nothing: MaybePromise<void>): MaybePromise<string> {
  return isPromise(nothing) ? nothing.then(() => '{}') : '{}'
}

/**
 * Answers a parsed body with the JSON of the reply. Throws if the request as a whole is invalid. In a batch,
 * each entry has its own decision or its own problem.
 */
export function answer(
  name: OperationName,
  limiters: Limiters,
  body: unknown,
  onError: (error: unknown) => void,
): MaybePromise<string> {
  const operation = OPERATIONS[name]
  const isBatch = typeof body === 'object' && body !== null && 'checks' in body
  if (!isBatch) return operation(limiters, body, decisionJson)
  const batch = batchOf(body)
  const write = batch.outcomes ? decisionJson : briefDecisionJson
  const failed = (error: unknown): string => {
    onError(error)
    return `{"error":${JSON.stringify(problemOfError(error) satisfies Problem)}}`
  }
  return answerBatch(batch.entries, limiters, (entry) => {
    try {
      const one = operation(limiters, entry, write)
      return isPromise(one) ? one.catch(failed) : one
    } catch (error) {
      return failed(error)
    }
  })
}
