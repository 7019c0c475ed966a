// What all processes have seen of the keys of each rule, put together.
import { HyperLogLog, DISTINCT_ERROR } from '../metrics/hyper-log-log.ts'
import type { KeyAtZero } from './followed-keys.ts'
import type { NamedKey } from './keys.ts'
import type { RulePart } from './rule-watch.ts'
import { mergeTops, type TopKeys } from './space-saving.ts'
import { sumOf, type Divergence } from './rule-trial.ts'

/** The keys of one rule over the whole fleet. */
export interface SeenKeys {
  readonly policy: string
  readonly rule: string
  readonly by: readonly string[]
  /** Different keys: an estimate, and its standard error. */
  readonly distinct: number
  readonly distinctError: number
  readonly refused: TopKeys<NamedKey>
  readonly busiest: TopKeys<NamedKey>
  readonly newlyRefused: TopKeys<NamedKey>
  /** Different keys that a candidate would newly refuse. */
  readonly newlyRefusedKeys: number
  readonly divergence: Divergence | null
  readonly atZero: readonly KeyAtZero[]
}

/** The parts of one rule together, at most so many keys of each kind. */
export function seenKeys(parts: readonly RulePart[], most: number): readonly SeenKeys[] {
  const byRule = new Map<string, RulePart[]>()
  for (const part of parts) {
    const id = JSON.stringify([part.policy, part.rule, part.by])
    byRule.set(id, [...(byRule.get(id) ?? []), part])
  }
  return [...byRule.values()].map((same) => together(same, most))
}

function together(parts: readonly RulePart[], most: number): SeenKeys {
  const { policy, rule, by } = parts[0]!
  const distinct = sizeOf(parts.map((part) => part.distinct))
  return {
    policy,
    rule,
    by,
    distinct,
    distinctError: Math.round(distinct * DISTINCT_ERROR),
    refused: mergeTops(
      parts.map((part) => part.refused),
      most,
    ),
    busiest: mergeTops(
      parts.map((part) => part.busiest),
      most,
    ),
    newlyRefused: mergeTops(
      parts.map((part) => part.newlyRefused),
      most,
    ),
    divergence: sumOf(parts.flatMap(({ divergence }) => divergence ?? [])),
    newlyRefusedKeys: sizeOf(parts.map((part) => part.newlyRefusedDistinct)),
    atZero: longestAtZero(parts.flatMap(({ atZero }) => atZero)).slice(0, most),
  }
}

function sizeOf(texts: readonly string[]): number {
  const all = new HyperLogLog()
  for (const text of texts) all.merge(HyperLogLog.fromText(text))
  return all.size
}

/** Each key once, since the earliest instant. */
function longestAtZero(keys: readonly KeyAtZero[]): readonly KeyAtZero[] {
  const byKey = new Map<string, KeyAtZero>()
  for (const one of keys) {
    const other = byKey.get(one.key)
    if (other === undefined || one.since < other.since) byKey.set(one.key, one)
  }
  return [...byKey.values()].toSorted((a, b) => a.since - b.since)
}
