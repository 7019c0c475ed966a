// Runs the language-neutral vectors of spec/algorithms against anything that decides.
import { limit as limitOf, type LimitFields } from '../limit/limit.ts'
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Millis } from '../time/clock.ts'

/**
 * One step of a case: at an instant, take (or peek, or give back) a cost and expect this.
 *
 * @example
 * ```ts
 * const step: VectorStep = { at: 0, cost: 1, why: 'the first request' }
 * ```
 */
export interface VectorStep {
  readonly at: Millis
  /** Default: take. */
  readonly do?: 'take' | 'peek' | 'refund'
  readonly cost: number
  /** For refund: when the units were taken. Default: now. */
  readonly takenAt?: Millis
  /** Absent for give. */
  readonly expect?: Omit<Verdict, 'at' | 'source'>
  readonly why?: string
}

/**
 * A story on one key: a limit and steps that follow each other.
 *
 * @example
 * ```ts
 * const names = file.cases.map(({ name }: VectorCase) => name)
 * ```
 */
export interface VectorCase {
  readonly name: string
  readonly limit: LimitFields
  readonly steps: readonly VectorStep[]
}

/**
 * One file of spec/algorithms.
 *
 * @example
 * ```ts
 * const count = (file: VectorFile): number => file.cases.length
 * ```
 */
export interface VectorFile {
  readonly algorithm: string
  readonly cases: readonly VectorCase[]
}

/**
 * What is under test: decides one step on one fresh key per case.
 *
 * @example
 * ```ts
 * const run = (subject: VectorSubject) => file.cases.map((vector) => runVectorCase(vector, subject))
 * ```
 */
export interface VectorSubject {
  /** Called once per case, before its steps. */
  begin(limit: Limit): void | Promise<void>
  take(limit: Limit, cost: number, now: Millis): Verdict | Promise<Verdict>
  peek(limit: Limit, cost: number, now: Millis): Verdict | Promise<Verdict>
  refund(limit: Limit, cost: number, now: Millis, takenAt: Millis): void | Promise<void>
}

/**
 * Runs one case; throws an Error that names the step and the numbers that differ. Returns the steps run.
 *
 * @example
 * ```ts
 * for (const vector of file.cases) await runVectorCase(vector, subject)
 * ```
 */
export async function runVectorCase(vector: VectorCase, subject: VectorSubject): Promise<number> {
  const limit = limitOf(vector.limit)
  await subject.begin(limit)
  for (const [i, step] of vector.steps.entries()) {
    const { at, cost } = step
    if (step.do === 'refund') {
      await subject.refund(limit, cost, at, step.takenAt ?? at)
      continue
    }
    const got = await (step.do === 'peek'
      ? subject.peek(limit, cost, at)
      : subject.take(limit, cost, at))
    const differing = differences(got, step.expect as Verdict)
    if (differing.length > 0) {
      const where = `${vector.name}, step ${i + 1} (at ${at}, cost ${cost}${step.why === undefined ? '' : `: ${step.why}`})`
      throw new Error(`${where}: ${differing.join(', ')}`)
    }
  }
  return vector.steps.length
}

const FIELDS = [
  'allowed',
  'remaining',
  'retryAfter',
  'resetAfter',
  'availableAfter',
  'delay',
] as const

function differences(got: Verdict, expected: Verdict): string[] {
  return FIELDS.filter((field) => got[field] !== expected[field]).map(
    (field) => `${field} is ${String(got[field])}, expected ${String(expected[field])}`,
  )
}
