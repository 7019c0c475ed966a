// Makes the files of spec/algorithms from the stories and the oracle.
import { limit as limitOf, type AlgorithmName, type LimitFields } from '../src/limit/limit.ts'
import type { Verdict } from '../src/limit/verdict.ts'
import type { VectorCase, VectorFile, VectorStep } from '../src/testing/vectors.ts'
import { Oracle } from './oracle.ts'
import type { Kind, VARIANT_KINDS } from './kinds.ts'
import { storiesOf } from './stories.ts'
import { variantStories, type VariantStory } from './stories-variants.ts'
import type { LastAnswer, Story } from './story.ts'

type VariantKind = (typeof VARIANT_KINDS)[number]

/** All cases of one algorithm or variant, answered. */
export function vectorFile(kind: Kind): VectorFile {
  const stories =
    kind in variantStories ? variantStories[kind as VariantKind] : storiesOf(kind as AlgorithmName)
  const cases = stories.map((story) =>
    answered({ algorithm: kind as AlgorithmName, ...story.limit }, story),
  )
  return { algorithm: kind, cases }
}

function answered(fields: LimitFields, story: Story | VariantStory): VectorCase {
  const oracle = new Oracle(limitOf(fields))
  let last: LastAnswer = { allowed: true, retry: 0, reset: 0, at: 0 }
  const steps: VectorStep[] = []
  for (const next of story.steps) {
    const step = next(last)
    if (step === undefined) continue
    const { at, cost, why, ...rest } = step
    if (step.do === 'refund') {
      oracle.refund(cost, at, step.takenAt ?? at)
      steps.push(step)
      continue
    }
    const verdict = step.do === 'peek' ? oracle.peek(cost, at) : oracle.take(cost, at)
    last = {
      allowed: verdict.allowed,
      retry: at + (verdict.retryAfter ?? 0),
      reset: at + verdict.resetAfter,
      at,
    }
    const expect = expected(verdict)
    steps.push({ at, ...rest, cost, expect, ...(why === undefined ? {} : { why }) })
  }
  return { name: story.name, limit: fields, steps }
}

function expected(verdict: Verdict): Omit<Verdict, 'at' | 'source'> {
  const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay } = verdict
  return { allowed, remaining, retryAfter, resetAfter, availableAfter, delay }
}

/** The file as text: one line per step, so that a case reads like a table. */
export function vectorText({ algorithm, cases }: VectorFile): string {
  const blocks = cases.map(({ name, limit, steps }) => {
    const lines = steps.map((step) => `        ${line(step)}`).join(',\n')
    return `    {\n      "name": ${line(name)},\n      "limit": ${line(limit)},\n      "steps": [\n${lines}\n      ]\n    }`
  })
  return `{\n  "algorithm": ${line(algorithm)},\n  "cases": [\n${blocks.join(',\n')}\n  ]\n}\n`
}

/** JSON on one line, with spaces to breathe. */
function line(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `"${name}": ${line(member)}`)
  return `{ ${members.join(', ')} }`
}
