// The operations of the API, on the limiters in force when the request came.
import type { Decision, MaybePromise } from 'sluice'
import { limiterFor } from '../limiters/limiter-for.ts'
import { isPromise, type Limiters, type ServiceLimiter } from '../limiters/limiters.ts'
import { answerBudget, isBudgetOperation, type BudgetOperationName } from './budget-operations.ts'
import { answerBatch } from './batch.ts'
import { batchOf, readCheck, type CheckRequest } from './check-request.ts'
import { briefDecisionJson, decisionJson } from './decision-json.ts'
import { problemOfError, type Problem } from '../net/problem.ts'

/** Named like the limiter's own methods. */
export type OperationName = CheckOperationName | BudgetOperationName

type CheckOperationName = 'check' | 'peek' | 'refund' | 'reset'

type WriteDecision = (decision: Decision) => string

/** Runs an operation for one request and gives the JSON of its reply. */
type Operation = (
  limiter: ServiceLimiter,
  request: CheckRequest,
  write: WriteDecision,
) => MaybePromise<string>

const OPERATIONS: Readonly<Record<CheckOperationName, Operation>> = {
  check: (limiter, { attributes, cost }, write) => written(limiter.check(attributes, cost), write),
  peek: (limiter, { attributes, cost }, write) => written(limiter.peek(attributes, cost), write),
  refund: (limiter, { attributes, cost, takenAt, pools }) =>
    done(limiter.refund(attributes, cost, takenAt, pools)),
  reset: (limiter, { attributes }) => done(limiter.reset(attributes)),
}

function written(decision: MaybePromise<Decision>, write: WriteDecision): MaybePromise<string> {
  return isPromise(decision) ? decision.then(write) : write(decision)
}

function done(nothing: MaybePromise<void>): MaybePromise<string> {
  return isPromise(nothing) ? nothing.then(() => '{}') : '{}'
}

/**
 * Answers a parsed body with the JSON of the reply. Throws when the whole request is wrong. Of a batch, each entry
 * has its own decision or its own problem.
 */
export function answer(
  name: OperationName,
  limiters: Limiters,
  body: unknown,
  onError: (error: unknown) => void,
): MaybePromise<string> {
  const batch = batchOf(body)
  if (batch === undefined) return answerOne(name, limiters, body, decisionJson)
  const write = batch.outcomes ? decisionJson : briefDecisionJson
  const failed = (error: unknown): string => {
    onError(error)
    return `{"error":${JSON.stringify(problemOfError(error) satisfies Problem)}}`
  }
  return answerBatch(batch.entries, limiters, (entry) => {
    try {
      const one = answerOne(name, limiters, entry, write)
      return isPromise(one) ? one.catch(failed) : one
    } catch (error) {
      return failed(error)
    }
  })
}

function answerOne(
  name: OperationName,
  limiters: Limiters,
  body: unknown,
  write: WriteDecision,
): MaybePromise<string> {
  if (isBudgetOperation(name)) return answerBudget(name, limiters, body)
  const request = readCheck(body, name === 'refund')
  return OPERATIONS[name](limiterFor(limiters, request.policy), request, write)
}
