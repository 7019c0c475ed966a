// The questions that one worker has gathered in one turn of its event loop, on their way to the owner together.
import { SluiceError, type Check, type Verdict } from 'sluice'
import type { Kinds } from './kinds.ts'
import { OPERATIONS, type Answers, type Operation, type Questions } from './owner-wire.ts'

interface Question {
  readonly operation: Operation
  readonly checks: readonly Check[]
  readonly resolve: (verdicts: readonly Verdict[]) => void
  readonly reject: (error: SluiceError) => void
}

/** One message, and who waits for its answer. */
export class Turn {
  /** When it is given up, by the monotonic clock of the machine. */
  deadline = 0
  isGivenUp = false
  private readonly questions: Question[] = []
  private readonly asked: (number | string | null)[] = []

  /** Adds a question, and promises its verdicts. */
  ask(operation: Operation, checks: readonly Check[], kinds: Kinds): Promise<readonly Verdict[]> {
    this.asked.push(OPERATIONS.indexOf(operation), checks.length)
    for (const check of checks)
      this.asked.push(kinds.numberOf(check), check.key, check.cost, check.takenAt ?? null)
    return new Promise((resolve, reject) => {
      this.questions.push({ operation, checks, resolve, reject })
    })
  }

  /** The message; its kinds count as told. */
  text(kinds: Kinds): string {
    const { asked, questions } = this
    // It does no harm when units are handed back late.
    const mayActLate = questions.every(({ operation }) => operation === 'refund')
    const latest = mayActLate ? Number.MAX_SAFE_INTEGER : this.deadline
    const { firstUntold: firstKind, untold } = kinds
    const text = JSON.stringify({ latest, firstKind, kinds: untold, asked } satisfies Questions)
    kinds.told()
    return text
  }

  /** Hands everybody their answer. */
  settle(answers: Answers): void {
    for (const { operation, checks, resolve, reject } of this.questions) {
      const verdicts = answers.read(isVerdictless(operation) ? 0 : checks.length)
      if (verdicts === undefined) reject(failed())
      else resolve(verdicts)
    }
  }

  /** Tells everybody that there is no answer. */
  fail(error: SluiceError): void {
    this.isGivenUp = true
    for (const { reject } of this.questions) reject(error)
  }

  /** Of a turn that was given up and has been acted on all the same: what to hand back for each take. */
  charged(answers: Answers): readonly (readonly Check[])[] {
    return this.questions.flatMap(({ operation, checks }) => {
      const verdicts = answers.read(isVerdictless(operation) ? 0 : checks.length)
      return operation === 'take' && verdicts !== undefined ? [chargedOf(checks, verdicts)] : []
    })
  }
}

function isVerdictless(operation: Operation): boolean {
  return operation === 'refund' || operation === 'reset'
}

/** What an allowed request was charged. What a refusal costs stays: a refusal it was. */
function chargedOf(checks: readonly Check[], verdicts: readonly Verdict[]): readonly Check[] {
  const isAllowed = checks.every(({ shadow }, i) => shadow === true || verdicts[i]!.allowed)
  if (!isAllowed) return []
  return checks.flatMap((check, i) => {
    const { allowed, at } = verdicts[i]!
    return allowed && check.cost > 0 ? [{ ...check, takenAt: at }] : []
  })
}

function failed(): SluiceError {
  return new SluiceError('store-failed', 'the owner of the counts could not answer')
}
