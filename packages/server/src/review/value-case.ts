// Finds values of an attribute that one file writes in two cases: requests have only one of them.
import type { Condition, Pattern, Rule } from 'sluice'
import type { Config } from '../config/config.ts'
import type { Step } from '../config/problem.ts'
import type { Trap } from './warning.ts'

/** Attributes of one caller each, where two cases may be two callers, and those that have a check of their own. */
const OTHERS = ['user', 'apiKey', 'key', 'ip', 'network', 'route', 'method', 'host']

/** A value, and where it is compared. */
interface ComparedValue {
  readonly attribute: string
  readonly text: string
  readonly rule: string
  readonly steps: readonly Step[]
}

/** Values that differ only in case from an earlier one, unless one place has both. */
export function valuesInTwoCases({ policies }: Config): readonly Trap[] {
  const lists = policies.flatMap(({ rules }, p) =>
    rules.flatMap((rule, r) => comparedIn(rule, ['policies', p, 'rules', r])),
  )
  /** The spellings of a value that stand side by side on purpose. */
  const together = new Set(
    lists.flatMap((list) =>
      list
        .filter((one) => list.some((other) => differInCase(one, other)))
        .map(({ attribute, text }) => `${attribute} ${text.toLowerCase()}`),
    ),
  )
  const firsts = new Map<string, ComparedValue>()
  const traps: Trap[] = []
  for (const value of lists.flat()) {
    const key = `${value.attribute} ${value.text.toLowerCase()}`
    const first = firsts.get(key)
    if (first === undefined) firsts.set(key, value)
    else if (differInCase(first, value) && !together.has(key)) {
      const { attribute, text, rule, steps } = value
      const other = first.rule === rule ? 'also' : `rule ${first.rule}`
      const message = `rule ${rule} compares ${attribute} with ${text}, and ${other} with ${first.text}: the case counts, so that one of them never holds; write both alike, or list both`
      traps.push({ code: 'value-case', steps, message })
    }
  }
  return traps
}

function differInCase(a: ComparedValue, b: ComparedValue): boolean {
  return (
    a.attribute === b.attribute &&
    a.text !== b.text &&
    a.text.toLowerCase() === b.text.toLowerCase()
  )
}

/** The values that stand together: of one condition, or of all tiers. */
function comparedIn(rule: Rule, steps: readonly Step[]): readonly (readonly ComparedValue[])[] {
  const { name, when = {}, overrides = [], tiers } = rule
  const conditions: readonly (readonly [Condition, readonly Step[]])[] = [
    [when, ['when']],
    ...overrides.map(({ when }, i) => [when, ['overrides', i, 'when']] as const),
  ]
  return [
    ...conditions.flatMap(([condition, place]) =>
      Object.entries(condition).map(([attribute, pattern]) =>
        OTHERS.includes(attribute)
          ? []
          : textsIn(pattern).map((text) => ({
              attribute,
              text,
              rule: name,
              steps: [...steps, ...place, attribute],
            })),
      ),
    ),
    tiers === undefined || OTHERS.includes(tiers.attribute)
      ? []
      : Object.keys(tiers.limits).map((text) => ({
          attribute: tiers.attribute,
          text,
          rule: name,
          steps: [...steps, 'tiers', 'limits', text],
        })),
  ]
}

function textsIn(pattern: Pattern): readonly string[] {
  if (Array.isArray(pattern)) return (pattern as readonly Pattern[]).flatMap(textsIn)
  if (typeof pattern === 'object') return 'equals' in pattern ? [String(pattern.equals)] : []
  return [String(pattern)]
}
