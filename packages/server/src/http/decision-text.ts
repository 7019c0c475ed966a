// Writes decisions as JSON: the same text as `JSON.stringify(decision)`, in a fraction of the time.
import type { Decision, Limit, Outcome } from 'sluice'

/**
 * `"rule":…,"limit":…` by the limit. A limit is made once for each rule and shared by its decisions, so that the text
 * is written once; a limit that two rules share has the text of the last.
 */
const heads = new WeakMap<Limit, { readonly rule: string; readonly text: string }>()

/** The text of a decision. */
export function decisionText(decision: Decision): string {
  // A stand-in's decisions carry more; they are not what a service makes all day.
  if (decision.degraded) return JSON.stringify(decision)
  const { allowed, outcomes, skipped } = decision
  const first = outcomes[0]
  if (first === undefined || skipped.length > 0 || outcomes.length > 1)
    return severalText(decision, outcomes)
  if (first.shadow) return severalText(decision, outcomes)
  const { remaining, retryAfter, resetAfter, delay, at } = first
  const head = headText(first)
  const held = allowed ? delay : 0
  return `{"allowed":${allowed},"reason":"${allowed ? 'within-limit' : 'over-limit'}",${head},"remaining":${remaining},"retryAfter":${allowed ? 0 : retryAfter},"resetAfter":${resetAfter},"delay":${held},"at":${at},"degraded":false,"outcomes":[{${head}${restOf(first)}],"skipped":[]}`
}

function severalText(decision: Decision, outcomes: readonly Outcome[]): string {
  const { allowed, reason, rule, skipped } = decision
  const at = outcomes.length === 0 ? 0 : outcomes[0]!.at
  // The decision's numbers are the binding outcome's, which are known by now.
  if (reason === 'blocked') return JSON.stringify(decision)
  const binding = rule === null ? undefined : outcomes.find((outcome) => outcome.rule === rule)
  const head =
    binding === undefined
      ? '"rule":null,"limit":null,"remaining":null,"retryAfter":0,"resetAfter":0,"delay":0'
      : `${headText(binding)},"remaining":${binding.remaining},"retryAfter":${allowed ? 0 : binding.retryAfter},"resetAfter":${binding.resetAfter},"delay":${allowed ? longestDelay(outcomes) : 0}`
  let told = ''
  for (const outcome of outcomes) {
    const text = `{${headText(outcome)}${restOf(outcome)}`
    told = told === '' ? text : `${told},${text}`
  }
  const passed = skipped.length === 0 ? '[]' : JSON.stringify(skipped)
  return `{"allowed":${allowed},"reason":"${reason}",${head},"at":${at},"degraded":false,"outcomes":[${told}],"skipped":${passed}}`
}

function longestDelay(outcomes: readonly Outcome[]): number {
  let longest = 0
  for (const { delay, shadow } of outcomes) if (!shadow && delay > longest) longest = delay
  return longest
}

/** An outcome behind its head. */
function restOf(outcome: Outcome): string {
  const { cost, allowed, remaining, retryAfter, resetAfter } = outcome
  const { availableAfter, delay, at, source, shadow, hidden } = outcome
  return `,"cost":${cost},"allowed":${allowed},"remaining":${remaining},"retryAfter":${retryAfter},"resetAfter":${resetAfter},"availableAfter":${availableAfter},"delay":${delay},"at":${at},"source":"${source}","shadow":${shadow},"hidden":${hidden}}`
}

function headText({ rule, limit }: Outcome): string {
  const known = heads.get(limit)
  if (known?.rule === rule) return known.text
  const text = `"rule":${JSON.stringify(rule)},"limit":${JSON.stringify(limit)}`
  heads.set(limit, { rule, text })
  return text
}
