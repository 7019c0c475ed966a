// The rules that apply only to some requests of a key: their conditions name attributes that were not given.
import { explain, type Decision, type Outcome, type Policy, type Rule } from 'sluice'
import type { Inspectors } from './inspectors.ts'

type Subject = Readonly<Record<string, string>>

/** Counts of one rule that are read, at most. */
const MAX_COUNTS = 8

/** A rule that depends on attributes that were not given, and what it answers to a request that fits it. */
export interface ConditionalRule {
  readonly rule: string
  /** The attributes that were not given, each with the values that fit, as the rule writes them; [] is any value. */
  readonly needs: Readonly<Record<string, readonly string[]>>
  /** What names the count: the given attributes, and the condition's value of each other one that the rule counts by. */
  readonly attributes: Subject
  /** Whether this rule allows a request that fits it; null if its count is unknown. */
  readonly allowed: boolean | null
  readonly outcome: Outcome | null
  /** The outcome in words. */
  readonly explained: string | null
}

/** The answer to every request with these attributes, whatever its others are. */
interface Asked {
  readonly attributes: Subject
  readonly cost: number
  readonly decision: Decision
}

/** The rules of a policy that the decision leaves out because an attribute of their condition was not given. */
export async function conditionalRules(
  policy: Policy,
  inspectors: Inspectors,
  { attributes, cost, decision }: Asked,
): Promise<readonly ConditionalRule[]> {
  const decided = new Set([...decision.outcomes, ...decision.skipped].map(({ rule }) => rule))
  const read = policy.rules
    .filter((rule) => !decided.has(rule.name))
    .map((rule) => ({ rule, missing: missingIn(rule, attributes) }))
    .filter(({ missing }) => missing.length > 0)
    .flatMap(({ rule, missing }) =>
      countsOf(rule, missing, attributes).map(async (subject) => {
        const needs = missing.map((name) => [name, valuesOf(rule, name, subject)] as const)
        const about = { rule: rule.name, needs: Object.fromEntries(needs), attributes: subject }
        const unknown = { ...about, allowed: null, outcome: null, explained: null }
        // A tier may depend on a value of the condition.
        const fitting = { ...fittingValues(rule, missing), ...subject }
        try {
          const peeked = await inspectors.without(policy, rule, missing).peek(fitting, cost)
          const [outcome] = peeked.outcomes
          if (outcome !== undefined)
            return { ...about, allowed: peeked.allowed, outcome, explained: explain(peeked) }
          // If the rule is not even skipped, a given attribute contradicts its condition.
          return peeked.skipped.length > 0 ? unknown : undefined
        } catch {
          return unknown
        }
      }),
    )
  return (await Promise.all(read)).filter((one) => one !== undefined)
}

/** The rules whose counts are known, in words. */
export function explainConditional(rules: readonly ConditionalRule[]): readonly string[] {
  return rules.flatMap(({ needs, explained }) => {
    const names = Object.entries(needs).map(([name, values]) =>
      values.length === 0 ? `a ${name}` : `${name} ${values.join(' or ')}`,
    )
    return explained === null ? [] : [`only with ${names.join(' and ')}: ${explained}`]
  })
}

/** The attributes that a rule's condition requires and that were not given. */
function missingIn({ when = {} }: Rule, attributes: Subject): readonly string[] {
  return Object.keys(when).filter(
    (name) => !Object.hasOwn(attributes, name) && !patternsOf(when[name]).includes('absent'),
  )
}

/** The counts to read: one for each value of a missing attribute that the rule counts by. */
function countsOf(rule: Rule, missing: readonly string[], given: Subject): readonly Subject[] {
  let subjects: readonly Subject[] = [given]
  for (const name of missing.filter((one) => rule.by.includes(one))) {
    const values = literalsOf(rule, name)
    if (values.length === 0) continue
    subjects = subjects.flatMap((one) => values.map((value) => ({ ...one, [name]: value })))
  }
  return subjects.slice(0, MAX_COUNTS)
}

/** One value for each missing attribute whose condition names one. */
function fittingValues(rule: Rule, missing: readonly string[]): Subject {
  return Object.fromEntries(
    missing.flatMap((name) =>
      literalsOf(rule, name)
        .slice(0, 1)
        .map((value) => [name, value]),
    ),
  )
}

/** What fits a missing attribute, as the rule writes it. */
function valuesOf({ when }: Rule, name: string, subject: Subject): readonly string[] {
  const chosen = subject[name]
  if (chosen !== undefined) return [chosen]
  const patterns = patternsOf(when?.[name])
  return patterns.includes('present') ? [] : patterns.map(textOf)
}

/** The literal values of a condition: no prefix, no network. */
function literalsOf({ when }: Rule, name: string): readonly string[] {
  return patternsOf(when?.[name])
    .filter((one) =>
      typeof one === 'object' && one !== null
        ? 'equals' in one
        : !(
            one === 'present' ||
            textOf(one).endsWith('*') ||
            (name === 'ip' && textOf(one).includes('/'))
          ),
    )
    .map(textOf)
}

function patternsOf(pattern: unknown): readonly unknown[] {
  return Array.isArray(pattern) ? pattern : [pattern]
}

function textOf(pattern: unknown): string {
  return String(
    typeof pattern === 'object' && pattern !== null ? Object.values(pattern)[0] : pattern,
  )
}
