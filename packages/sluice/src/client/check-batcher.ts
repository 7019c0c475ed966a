// Sends the checks of one event-loop turn to the decision service in as few requests as possible.
import { SluiceError } from '../errors.ts'
import type { CallGuard, GuardedOperation } from '../resilience/call-guard.ts'
import { TurnBatches } from '../time/turn-batches.ts'
import { onAbort } from './abort-groups.ts'
import type { Fetch } from './polite.ts'
import { malformedAnswer, problemError, serviceUnreachable, statusError } from './remote-errors.ts'

/** The operations of the service's HTTP API. */
export type RemoteOperation = 'check' | 'peek' | 'refund' | 'reset'

/** How the batcher reaches the service. */
export interface CheckBatcherOptions {
  /** The address, without a slash at its end. */
  readonly base: string
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly fetch: Fetch
  /** Deadline and breaker of every request. */
  readonly guard: CallGuard
}

/** A check that waits for its answer. */
interface Pending {
  readonly json: string
  readonly signal: AbortSignal | undefined
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

/** One HTTP request to the service. */
interface ServiceRequest {
  readonly operation: RemoteOperation
  readonly body: string
  /** Ends the request at its deadline. */
  readonly control: AbortController
}

/** The most checks in one request; the service accepts no more. */
const MAX_CHECKS = 1000
/** The most characters in one request; well below the service's bound on bodies. */
const MAX_CHARACTERS = 16_384

/** The checks of one request, which are all of one operation. */
class CheckBatch {
  readonly operation: RemoteOperation
  readonly checks: Pending[] = []
  characters = 0

  constructor(operation: RemoteOperation) {
    this.operation = operation
  }

  add(check: Pending): void {
    this.checks.push(check)
    this.characters += check.json.length
  }
}

/** Collects the checks of a turn, sends them together and settles each with its own answer. */
export class CheckBatcher {
  private readonly options: CheckBatcherOptions
  private readonly batches: TurnBatches<RemoteOperation, CheckBatch>

  constructor(options: CheckBatcherOptions) {
    this.options = options
    this.batches = new TurnBatches({
      make: (operation) => new CheckBatch(operation),
      hasRoom: ({ checks, characters }, size) =>
        checks.length < MAX_CHECKS && characters + size <= MAX_CHARACTERS,
      send: (batch) => void this.sendBatch(batch),
      // A request over HTTP is expensive: each waits for the others of its turn.
      waitsForTurn: true,
    })
  }

  /** Resolves with the service's answer to one check. Rejects with a {@link SluiceError} or the signal's reason. */
  send(operation: RemoteOperation, json: string, signal?: AbortSignal): Promise<unknown> {
    if (signal?.aborted) return Promise.reject(signal.reason as Error)
    return new Promise((settle, fail) => {
      const forget = onAbort(signal, () => fail(signal?.reason as Error))
      const resolve = (answer: unknown): void => {
        forget()
        settle(answer)
      }
      const reject = (error: unknown): void => {
        forget()
        fail(error as Error)
      }
      this.batches.batchFor(operation, json.length).add({ json, signal, resolve, reject })
    })
  }

  /** Settles every check of the batch; never rejects. */
  private async sendBatch({ operation, checks: collected }: CheckBatch): Promise<void> {
    // A check that was aborted before anything was sent is not charged.
    const batch = collected.filter(({ signal }) => signal?.aborted !== true)
    if (batch.length === 0) return
    const isSingle = batch.length === 1
    const checks = batch.map(({ json }) => json).join(',')
    try {
      const body = isSingle ? checks : `{"outcomes":true,"checks":[${checks}]}`
      const answer = await this.request(operation, body)
      const answers = isSingle ? [answer] : (answer as { decisions?: unknown } | null)?.decisions
      if (!Array.isArray(answers) || answers.length !== batch.length) throw malformedAnswer()
      for (const [i, { resolve, reject }] of batch.entries()) {
        const problem = isSingle ? undefined : (answers[i] as { error?: unknown } | null)?.error
        if (problem === undefined) resolve(answers[i])
        else reject(problemError(problem))
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  /** Rejects at the deadline even if the given fetch ignores its signal, and at once while the breaker is open. */
  private async request(operation: RemoteOperation, body: string): Promise<unknown> {
    const { guard } = this.options
    const request = { operation, body, control: new AbortController() }
    return guard.execute(guard.firstShard, this.guarded, request)
  }

  private readonly guarded: GuardedOperation<ServiceRequest, unknown> = {
    call: (request) => this.exchange(request),
    onFailure({ control }, { error }) {
      control.abort()
      throw error instanceof SluiceError ? error : serviceUnreachable(error)
    },
  }

  private async exchange({ operation, body, control }: ServiceRequest): Promise<unknown> {
    const { base, headers, fetch } = this.options
    const response = await fetch(`${base}/v1/${operation}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      signal: control.signal,
      redirect: 'error',
    })
    // The deadline covers the body as well.
    const text = await response.text()
    if (response.ok) return parse(text)
    throw statusError(response.status, text)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformedAnswer()
  }
}
