// What one descriptor of a request asks for. Files and policies differ only in how they make these.
import type { Attributes, Decision, DecisionRequest, Skipped } from 'sluice'
import type { DescribedCheck } from '../../observe/observer.ts'
import type { Descriptor } from '../wire/request.ts'
import type { CurrentLimit } from '../wire/response.ts'

/** A check with the limit as the caller sees it; without one, it follows from the limit that was applied. */
interface LimitCheck extends DescribedCheck {
  readonly shown?: CurrentLimit
}

/** Whether units are taken, looked at (0 hits), or refunded (negative hits). */
export type HitsUse = 'take' | 'look' | 'refund'

/** The checks of one descriptor. */
export interface DescriptorChecks {
  readonly use: HitsUse
  readonly attributes: Attributes
  /** None when no limit applies. Their cost is the descriptor's hits, whatever the use. */
  readonly checks: readonly LimitCheck[]
  readonly skipped: readonly Skipped[]
  /** Whether a rule matched that sets no limit. */
  readonly isUnlimited: boolean
}

/** The use of a descriptor's hits, and how many they are. */
export function hitsOf(
  { hits, negative }: Descriptor,
  requestHits: number,
): { readonly use: HitsUse; readonly cost: number } {
  const cost = hits ?? (requestHits || 1)
  return { cost, use: cost === 0 ? 'look' : negative ? 'refund' : 'take' }
}

const NONE: readonly never[] = []

/** Objects without a prototype of their own that V8 keeps fast, which it does not with `Object.create(null)`. */
const Bare = function () {} as unknown as new () => object
Bare.prototype = Object.create(null) as object

/** The entries as attributes; of entries with the same key, the last. */
export function attributesOf({ entries }: Descriptor): Attributes {
  const attributes = new Bare() as Record<string, string>
  for (const { key, value } of entries) attributes[key] = value
  return attributes
}

/** All descriptors as one request to decide. What is not taken costs `otherCost`, or what it says for the use. */
export function requestOf(
  descriptors: readonly DescriptorChecks[],
  costOf: (use: HitsUse, cost: number) => number,
): DecisionRequest {
  // Of the length that they mostly have: lists that grow are garbage many times over.
  const attributes = new Array<Attributes>(descriptors.length)
  const checks = new Array<LimitCheck>(descriptors.length)
  let skipped: Skipped[] | undefined
  let count = 0
  for (let i = 0; i < descriptors.length; i++) {
    const descriptor = descriptors[i]!
    attributes[i] = descriptor.attributes
    for (const check of descriptor.checks) {
      const cost = costOf(descriptor.use, check.cost)
      checks[count++] = cost === check.cost ? check : { ...check, cost }
    }
    for (const one of descriptor.skipped) (skipped ??= []).push(one)
  }
  checks.length = count
  return { attributes, checks, skipped: skipped ?? NONE }
}

/** The outcomes of each descriptor. */
export function outcomesOf(
  descriptors: readonly DescriptorChecks[],
  outcomes: Decision['outcomes'],
): readonly Decision['outcomes'][] {
  if (descriptors.length === 1) return [outcomes]
  let next = 0
  return descriptors.map(({ checks }) => outcomes.slice(next, (next += checks.length)))
}
