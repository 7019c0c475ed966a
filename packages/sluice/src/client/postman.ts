// Carries the questions of one turn of the event loop to the decision service in as few requests as can be.
import { SluiceError } from '../errors.ts'
import type { Millis } from '../time/clock.ts'
import { afterTurn } from '../time/turn.ts'
import { onAbort } from './abort-groups.ts'
import type { Fetch } from './polite.ts'
import { errorOfProblem, errorOfStatus, unreachable } from './remote-errors.ts'
import type { Timers } from './timers.ts'

/** What the service can be asked. */
export type Operation = 'check' | 'peek' | 'refund' | 'reset'

/** What a postman works with. */
export interface PostmanOptions {
  readonly base: string
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly timeout: Millis
  readonly fetch: Fetch
  readonly timers: Timers
}

/** A question on its way. */
interface Letter {
  readonly text: string
  readonly signal: AbortSignal | undefined
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Most questions in one request, which is the service's bound, and most characters, well below its bound on bodies. */
const MOST_LETTERS = 1000
const MOST_CHARACTERS = 16_384

/** Gathers questions of a turn, and hands each its own answer. */
export class Postman {
  private readonly options: PostmanOptions
  private readonly boxes = new Map<Operation, Letter[]>()

  constructor(options: PostmanOptions) {
    this.options = options
  }

  /** The service's answer to one question; rejects with a {@link SluiceError}, or the signal's reason. */
  post(operation: Operation, text: string, signal?: AbortSignal): Promise<unknown> {
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
      this.collect(operation, { text, signal, resolve, reject })
    })
  }

  private collect(operation: Operation, letter: Letter): void {
    const box = this.boxes.get(operation)
    if (box !== undefined) {
      box.push(letter)
      return
    }
    this.boxes.set(operation, [letter])
    afterTurn(() => {
      const letters = this.boxes.get(operation) ?? []
      this.boxes.delete(operation)
      // Whoever has left before anything was sent is not charged.
      const wanted = letters.filter(({ signal }) => !signal?.aborted)
      for (const part of parted(wanted)) void this.deliver(operation, part)
    })
  }

  /** Never rejects. */
  private async deliver(operation: Operation, letters: readonly Letter[]): Promise<void> {
    const isOne = letters.length === 1
    const texts = letters.map(({ text }) => text).join(',')
    try {
      const answer = await this.send(
        operation,
        isOne ? texts : `{"outcomes":true,"checks":[${texts}]}`,
      )
      const answers = isOne ? [answer] : (answer as { decisions?: unknown } | null)?.decisions
      if (!Array.isArray(answers) || answers.length !== letters.length) throw malformed()
      for (const [i, { resolve, reject }] of letters.entries()) {
        const problem = isOne ? undefined : (answers[i] as { error?: unknown } | null)?.error
        if (problem === undefined) resolve(answers[i])
        else reject(errorOfProblem(problem))
      }
    } catch (error) {
      for (const { reject } of letters) reject(error)
    }
  }

  /** Rejects at the deadline even when the fetch that was given does not heed its signal. */
  private async send(operation: Operation, body: string): Promise<unknown> {
    const { timeout, timers } = this.options
    const deadline = new AbortController()
    let timer: unknown
    const tooLate = new Promise<never>((_, reject) => {
      timer = timers.set(() => {
        deadline.abort()
        const message = `the decision service did not answer within ${timeout} ms`
        reject(new SluiceError('store-timeout', message, { transient: true }))
      }, timeout)
    })
    try {
      return await Promise.race([tooLate, this.exchange(operation, body, deadline.signal)])
    } catch (cause) {
      throw cause instanceof SluiceError ? cause : unreachable(cause)
    } finally {
      timers.clear(timer)
    }
  }

  private async exchange(
    operation: Operation,
    body: string,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { base, headers, fetch } = this.options
    const response = await fetch(`${base}/v1/${operation}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      signal,
      redirect: 'error',
    })
    // The deadline holds for the body as well.
    const text = await response.text()
    if (response.ok) return parsed(text)
    throw errorOfStatus(response.status, text)
  }
}

function* parted(letters: readonly Letter[]): Iterable<readonly Letter[]> {
  let part: Letter[] = []
  let size = 0
  for (const letter of letters) {
    const isFull = part.length === MOST_LETTERS || size + letter.text.length > MOST_CHARACTERS
    if (part.length > 0 && isFull) {
      yield part
      part = []
      size = 0
    }
    part.push(letter)
    size += letter.text.length
  }
  if (part.length > 0) yield part
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed()
  }
}

function malformed(): SluiceError {
  return new SluiceError('store-failed', 'the decision service did not answer as it should')
}
