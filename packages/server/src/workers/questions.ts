// What a worker may ask the primary process, and how it waits for the answer.
import type { Look, PolicyPlace } from '../store/key-source.ts'
import type { Control, NewControl } from '../controls/control.ts'
import { RequestError } from '../net/problem.ts'

/** How long an answer may take. */
const PATIENCE = 2000

/** Every question with its answer. */
export interface Questions {
  /** The figures of all processes, as text. */
  metrics: { readonly ask: object; readonly answer: string }
  /** Blocks and overrides; undefined when nothing has changed since `version`. */
  controls: {
    readonly ask: { readonly version: number }
    readonly answer: { readonly version: number; readonly controls: readonly Control[] } | undefined
  }
  put: {
    readonly ask: { readonly control: NewControl; readonly duration: number | null }
    readonly answer: boolean
  }
  remove: { readonly ask: { readonly control: string }; readonly answer: boolean }
  /** Keys that the owner of the counts holds. */
  keys: {
    readonly ask: { readonly places: readonly PolicyPlace[]; readonly at: string }
    readonly answer: Look | undefined
  }
}

/** One of the questions. */
export type Question = {
  [W in keyof Questions]: { readonly what: W } & Questions[W]['ask']
}[keyof Questions]

/** A question on its way; the answer has the same number. */
export interface Ask {
  readonly type: 'ask'
  readonly id: number
  readonly question: Question
}

/** `failed` in the place of a value when nobody could answer. */
export interface Answer {
  readonly type: 'answer'
  readonly id: number
  readonly value: unknown
  readonly failed?: boolean
}

/** Asks over a channel of messages, and gives up after two seconds. */
export class Asker {
  private readonly send: (ask: Ask) => void
  private readonly waiting = new Map<number, (answer: Answer) => void>()
  private last = 0

  constructor(send: (ask: Ask) => void) {
    this.send = send
  }

  /** Rejects with a 503 when there is no answer. */
  ask<W extends keyof Questions>(
    what: W,
    question: Questions[W]['ask'],
  ): Promise<Questions[W]['answer']> {
    const id = ++this.last
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        this.waiting.delete(id)
        const detail = 'another process of the service did not answer; try again'
        reject(new RequestError(503, 'unavailable', detail))
      }
      const timer = setTimeout(fail, PATIENCE)
      this.waiting.set(id, ({ value, failed }) => {
        clearTimeout(timer)
        if (failed === true) fail()
        else resolve(value as Questions[W]['answer'])
      })
      this.send({ type: 'ask', id, question: { what, ...question } as Question })
    })
  }

  /** Hands an answer to whoever waits for it. */
  hear(answer: Answer): void {
    this.waiting.get(answer.id)?.(answer)
    this.waiting.delete(answer.id)
  }
}

/** Answers a question, whatever happens. */
export async function answerTo(
  { id, question }: Ask,
  answer: (question: Question) => Promise<unknown>,
): Promise<Answer> {
  try {
    return { type: 'answer', id, value: await answer(question) }
  } catch {
    return { type: 'answer', id, value: undefined, failed: true }
  }
}
