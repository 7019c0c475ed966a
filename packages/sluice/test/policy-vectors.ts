// Runs the vectors of spec/policies against anything that decides whole policies.
import { readFileSync } from 'node:fs'
import type { Decision } from '../src/decision/decision.ts'
import type { Attributes, Policy } from '../src/policy/policy.ts'
import type { MaybePromise } from '../src/stores/store.ts'
import type { Millis } from '../src/time/clock.ts'

/** One step of a case. */
export interface PolicyStep {
  readonly at: Millis
  readonly do?: 'check' | 'peek' | 'refund' | 'reset' | 'countFailure'
  readonly attributes: Attributes
  readonly cost?: number
  readonly takenAt?: Millis
  readonly pools?: Readonly<Record<string, string>>
  readonly expect?: Readonly<Record<string, unknown>>
  readonly why?: string
}

/** A policy and what happens on it. */
export interface PolicyCase {
  readonly name: string
  readonly policy: Policy
  readonly steps: readonly PolicyStep[]
}

/** All cases of spec/policies. */
export const policyCases: readonly PolicyCase[] = ['lockouts', 'marks', 'pools'].flatMap((name) => {
  const file = new URL(`../../../spec/policies/${name}.json`, import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { cases: PolicyCase[] }).cases
})

/** Makes the steps; returns what was answered and what was expected, step by step. */
export async function runPolicyCase(
  { steps }: PolicyCase,
  make: (step: PolicyStep) => MaybePromise<Decision | void>,
): Promise<{ readonly got: readonly unknown[]; readonly expected: readonly unknown[] }> {
  const got: unknown[] = []
  const expected: unknown[] = []
  for (const [i, step] of steps.entries()) {
    const decision = (await make(step)) as unknown as Record<string, unknown> | undefined
    if (step.expect === undefined) continue
    const names = Object.keys(step.expect)
    got.push([i, Object.fromEntries(names.map((name) => [name, decision?.[name] ?? null]))])
    expected.push([i, step.expect])
  }
  return { got, expected }
}
