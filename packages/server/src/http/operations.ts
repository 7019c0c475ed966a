// The four questions of the API, asked of the limiters in force when the request came.
import type { Decision, MaybePromise } from 'sluice'
import { limiterFor } from '../limiters/limiter-for.ts'
import { isPromise, type Limiters, type ServiceLimiter } from '../limiters/limiters.ts'
import { batchOf, readCheck, type CheckRequest } from './check-request.ts'
import { decisionText } from './decision-text.ts'
import { problemOfError, type Problem } from '../net/problem.ts'

/** What a limiter does with one question, and the text of its answer. */
type Ask = (limiter: ServiceLimiter, request: CheckRequest) => MaybePromise<string>

/** Named like the limiter's own methods. */
export type OperationName = 'check' | 'peek' | 'refund' | 'reset'

const ASK: Readonly<Record<OperationName, Ask>> = {
  check: (limiter, { attributes, cost }) => decided(limiter.check(attributes, cost)),
  peek: (limiter, { attributes, cost }) => decided(limiter.peek(attributes, cost)),
  refund: (limiter, { attributes, cost, takenAt }) =>
    done(limiter.refund(attributes, cost, takenAt)),
  reset: (limiter, { attributes }) => done(limiter.reset(attributes)),
}

function decided(decision: MaybePromise<Decision>): MaybePromise<string> {
  return isPromise(decision) ? decision.then(decisionText) : decisionText(decision)
}

function done(nothing: MaybePromise<void>): MaybePromise<string> {
  return isPromise(nothing) ? nothing.then(() => '{}') : '{}'
}

/**
 * Answers a parsed body with the text of the reply. Throws when the whole request is wrong; a batch answers what
 * it can, and says of every other entry what is wrong with it.
 */
export function answer(
  operation: OperationName,
  limiters: Limiters,
  body: unknown,
  onError: (error: unknown) => void,
): MaybePromise<string> {
  const batch = batchOf(body)
  if (batch === undefined) return ask(operation, limiters, body)
  const failed = (error: unknown): string => {
    onError(error)
    return `{"error":${JSON.stringify(problemOfError(error) satisfies Problem)}}`
  }
  const texts: MaybePromise<string>[] = []
  let waits = false
  for (const entry of batch) {
    try {
      const one = ask(operation, limiters, entry)
      if (isPromise(one)) {
        waits = true
        texts.push(one.catch(failed))
      } else texts.push(one)
    } catch (error) {
      texts.push(failed(error))
    }
  }
  if (!waits) return batchText(texts as string[])
  return Promise.all(texts.map(async (text) => text)).then(batchText)
}

/** Not by join, which copies: what is put together here is copied once, when it is sent. */
function batchText(texts: readonly string[]): string {
  let all = '{"decisions":['
  for (let i = 0; i < texts.length; i++) all += i === 0 ? texts[i]! : `,${texts[i]!}`
  return `${all}]}`
}

function ask(operation: OperationName, limiters: Limiters, body: unknown): MaybePromise<string> {
  const request = readCheck(body, operation === 'refund')
  return ASK[operation](limiterFor(limiters, request.policy), request)
}
