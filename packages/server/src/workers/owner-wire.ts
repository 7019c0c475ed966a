// What workers and the owner of the counts say to each other: the questions of one turn, and their answers.
import type { Check, Limit, MaybePromise, Store, Verdict } from 'sluice'

/** What a store is asked, by its number on the wire. */
export const OPERATIONS = ['take', 'peek', 'refund', 'reset'] as const

/** One of a store's methods. */
export type Operation = (typeof OPERATIONS)[number]

/** The part of a check that many requests share: it travels once, and later ones name its number. */
export interface Kind {
  readonly space: string
  readonly limit: Limit
  readonly shadow?: boolean
  readonly countRefused?: boolean
}

/** The questions of one turn. */
export interface Questions {
  /** The last instant at which they may be acted on, by the monotonic clock that all processes of a machine share. */
  readonly latest: number
  /** The number of the first of `kinds`; those from there on are forgotten. */
  readonly firstKind: number
  readonly kinds: readonly Kind[]
  /** For each question its operation and how many checks it has; for each check its kind, key, cost and `takenAt`. */
  readonly asked: readonly (number | string | null)[]
}

/** What a turn ended with. */
const ANSWERED = 0
const TOO_LATE = 1

/** What a question ended with. */
const FINE = 0
const FAILED = 1

/** Numbers of one verdict. */
const WORDS = 7
/** In the place of null: no wait is below 0. */
const NEVER = -1

/** Milliseconds since some moment, the same in every process of this machine, whatever happens to the date. */
export function machineTime(): number {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1000 + Math.floor(nanos / 1e6)
}

/** Asks the store every question, one after the other, and gives the answers as bytes. */
export function answersTo(
  asked: Questions['asked'],
  kinds: readonly Kind[],
  store: Pick<Store, Operation>,
): Buffer {
  const words: number[] = [ANSWERED]
  for (let i = 0; i < asked.length;) {
    const operation = OPERATIONS[asked[i] as number]!
    const count = asked[i + 1] as number
    const checks: Check[] = []
    for (i += 2; checks.length < count; i += 4) checks.push(checkAt(asked, i, kinds))
    writeAnswer(words, () => store[operation](checks))
  }
  return Buffer.from(Float64Array.from(words).buffer)
}

function checkAt(asked: Questions['asked'], i: number, kinds: readonly Kind[]): Check {
  const kind = kinds[asked[i] as number]
  if (kind === undefined) throw new RangeError('a kind of check that was not told')
  const { space, limit, shadow = false, countRefused = false } = kind
  const key = asked[i + 1] as string
  const cost = asked[i + 2] as number
  const takenAt = asked[i + 3] as number | null
  const check = { space, key, limit, cost, shadow, countRefused }
  return takenAt === null ? check : { ...check, takenAt }
}

function writeAnswer(words: number[], ask: () => MaybePromise<readonly Verdict[] | void>): void {
  let verdicts: readonly Verdict[]
  try {
    verdicts = (ask() as readonly Verdict[] | undefined) ?? []
  } catch {
    words.push(FAILED)
    return
  }
  words.push(FINE)
  for (const verdict of verdicts) {
    const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at } = verdict
    words.push(allowed ? 1 : 0, remaining, retryAfter ?? NEVER, resetAfter)
    words.push(availableAfter, delay, at)
  }
}

/** The answer to a turn that came too late. */
export function tooLateAnswer(): Buffer {
  return Buffer.from(Float64Array.of(TOO_LATE).buffer)
}

/** Reads the answers to a turn, question by question. */
export class Answers {
  private readonly words: Float64Array
  private next = 1

  constructor(payload: Buffer) {
    // A copy, since numbers of eight bytes must begin at a multiple of eight.
    const { buffer, byteOffset, byteLength } = payload
    this.words = new Float64Array(buffer.slice(byteOffset, byteOffset + byteLength))
  }

  get isTooLate(): boolean {
    return this.words[0] === TOO_LATE
  }

  /** The verdicts on so many checks; undefined when the store could not answer. Questions are read in their order. */
  read(count: number): readonly Verdict[] | undefined {
    if (this.words[this.next++] !== FINE) return undefined
    const verdicts: Verdict[] = []
    for (let i = 0; i < count; i++) verdicts.push(this.verdict())
    return verdicts
  }

  private verdict(): Verdict {
    const { words, next } = this
    this.next += WORDS
    const retryAfter = words[next + 2]!
    return {
      allowed: words[next] === 1,
      remaining: words[next + 1]!,
      retryAfter: retryAfter === NEVER ? null : retryAfter,
      resetAfter: words[next + 3]!,
      availableAfter: words[next + 4]!,
      delay: words[next + 5]!,
      at: words[next + 6]!,
      source: 'store',
    }
  }
}
