// The four questions of the API, asked of the limiters in force when the request came.
import type { MaybePromise } from 'sluice'
import { isPromise } from '../limiters/measured.ts'
import type { Limiters, ServiceLimiter } from '../limiters/limiters.ts'
import { batchOf, readCheck, type CheckRequest } from './check-request.ts'
import { problemOfError, RequestError, type Problem } from './problem.ts'

/** What a limiter does with one question; the answer is a decision, or nothing. */
type Ask = (limiter: ServiceLimiter, request: CheckRequest) => MaybePromise<unknown>

/** Named like the limiter's own methods. */
export type OperationName = 'check' | 'peek' | 'give' | 'reset'

const ASK: Readonly<Record<OperationName, Ask>> = {
  check: (limiter, { attributes, cost }) => limiter.check(attributes, cost),
  peek: (limiter, { attributes, cost }) => limiter.peek(attributes, cost),
  give: (limiter, { attributes, cost, takenAt }) => limiter.give(attributes, cost, takenAt),
  reset: (limiter, { attributes }) => limiter.reset(attributes),
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
  if (batch === undefined) {
    const one = ask(operation, limiters, body)
    return isPromise(one) ? one.then(textOf) : textOf(one)
  }
  const failed = (error: unknown): string => {
    onError(error)
    return `{"error":${JSON.stringify(problemOfError(error) satisfies Problem)}}`
  }
  const texts: string[] = []
  const waiting: Promise<void>[] = []
  for (const [i, entry] of batch.entries()) {
    try {
      const one = ask(operation, limiters, entry)
      if (!isPromise(one)) texts[i] = textOf(one)
      else {
        const settled = one.then(textOf, failed)
        waiting.push(settled.then((text) => void (texts[i] = text)))
      }
    } catch (error) {
      texts[i] = failed(error)
    }
  }
  const all = () => `{"decisions":[${texts.join(',')}]}`
  return waiting.length === 0 ? all() : Promise.all(waiting).then(all)
}

function ask(operation: OperationName, limiters: Limiters, body: unknown): MaybePromise<unknown> {
  const request = readCheck(body, operation === 'give')
  return ASK[operation](limiterFor(limiters, request.policy), request)
}

function limiterFor(limiters: Limiters, policy: string | undefined): ServiceLimiter {
  const name = policy ?? limiters.only
  if (name === undefined) {
    const detail = `policy is missing; accepted: ${someOf(limiters.names())}`
    throw new RequestError(400, 'invalid-body', detail, 'policy')
  }
  const limiter = limiters.get(name)
  if (limiter === undefined) {
    const detail = `there is no policy of that name; accepted: ${someOf(limiters.names())}`
    throw new RequestError(404, 'unknown-policy', detail, 'policy')
  }
  return limiter
}

/** A few names are a help, thousands are not. */
function someOf(names: readonly string[]): string {
  return names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')}, …`
}

function textOf(value: unknown): string {
  return value === undefined ? '{}' : JSON.stringify(value)
}
