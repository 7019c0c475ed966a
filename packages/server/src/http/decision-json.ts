// Writes decisions as JSON: the same string as `JSON.stringify(decision)`, in a fifth of the time.
import type { Decision, Limit, Outcome } from 'sluice'

/**
 * `"rule":…,"limit":…` by the limit. A limit is made once for each rule and shared by its decisions, so the string
 * is made once; a limit that two rules share has the string of the last.
 */
const heads = new WeakMap<Limit, { readonly rule: string; readonly text: string }>()

/** The JSON of a decision. */
export function decisionJson(decision: Decision): string {
  const { allowed, outcomes, skipped } = decision
  // Decisions of lockouts carry more, and are rare.
  if (!allowed && outcomes.some(({ lockedOut }) => lockedOut === true))
    return JSON.stringify(decision)
  const first = outcomes[0]
  if (first === undefined || skipped.length > 0 || outcomes.length > 1)
    return severalJson(decision, outcomes)
  if (first.shadow || first.pool !== undefined || first.cause !== undefined)
    return severalJson(decision, outcomes)
  const { start, middle, end } = frameOf(first)
  const { remaining, retryAfter, resetAfter, availableAfter } = first
  const numbers = allowed
    ? `${remaining}${NO_WAIT}${resetAfter}`
    : `${remaining},"retryAfter":${retryAfter},"resetAfter":${resetAfter}`
  const head = allowed ? start : `${opening(decision)}${start}`
  return `${head}${numbers}${middle}${numbers},"availableAfter":${availableAfter}${end}`
}

/** The JSON of a decision without the outcomes of its rules and the rules that were skipped. */
export function briefDecisionJson(decision: Decision): string {
  const { allowed, rule, limit } = decision
  const isRare =
    rule === null ||
    limit === null ||
    // An allowed decision by a rule has one reason only.
    (!allowed && decision.reason !== 'over-limit') ||
    decision.degraded ||
    decision.marked !== undefined ||
    decision.pools !== undefined
  if (isRare) return JSON.stringify(briefOf(decision))
  const starts = briefStarts(rule, limit)
  const { remaining, resetAfter } = decision
  const end = briefEnd(decision.delay, decision.at)
  // Few parts, since V8 walks through each part when the string is sent.
  if (allowed) return `${starts.allowed}${remaining}${NO_WAIT}${resetAfter}${end}`
  const { retryAfter } = decision
  return `${opening(decision)}${starts.refused}${remaining},"retryAfter":${retryAfter},"resetAfter":${resetAfter}${end}`
}

/** What stands between the numbers of an allowed decision. */
const NO_WAIT = ',"retryAfter":0,"resetAfter":'

/** What a refusal begins with: it may have an id, with no character that JSON escapes. */
function opening({ id }: Decision): string {
  return id === undefined ? '{' : `{"id":"${id}",`
}

function briefOf(decision: Decision): object {
  const { id, allowed, reason, rule, limit, remaining, retryAfter, resetAfter } = decision
  const { delay, at, degraded, cause, marked, pools } = decision
  const waits = { remaining, retryAfter, resetAfter, delay, at }
  return { id, allowed, reason, rule, limit, ...waits, degraded, cause, marked, pools }
}

/** What brief decisions begin with; a refusal's comes behind its {@link opening}. */
interface BriefStarts {
  readonly rule: string
  readonly allowed: string
  readonly refused: string
}

/** By the limit; one that two rules share has the strings of the last. */
const startsByLimit = new WeakMap<Limit, BriefStarts>()

function briefStarts(rule: string, limit: Limit): BriefStarts {
  const known = startsByLimit.get(limit)
  if (known?.rule === rule) return known
  const head = `"rule":${JSON.stringify(rule)},"limit":${JSON.stringify(limit)},"remaining":`
  const made = {
    rule,
    allowed: whole(`{"allowed":true,"reason":"within-limit",${head}`),
    refused: whole(`"allowed":false,"reason":"over-limit",${head}`),
  }
  startsByLimit.set(limit, made)
  return made
}

/** What the last brief decision ended with: those of a batch are of one instant. */
const lastEnd = { delay: 0, at: 0, text: '' }

function briefEnd(delay: number, at: number): string {
  if (lastEnd.at !== at || lastEnd.delay !== delay || lastEnd.text === '') {
    lastEnd.at = at
    lastEnd.delay = delay
    lastEnd.text = whole(`,"delay":${delay},"at":${at},"degraded":false}`)
  }
  return lastEnd.text
}

/**
 * The JSON of a decision by one rule around its numbers. The decisions of one instant differ in those alone, and a
 * string that is put together from few parts is written sooner (measured: 1.2 times the decisions in the same processor time).
 */
interface Frame {
  readonly outcome: Pick<Outcome, 'rule' | 'cost' | 'delay' | 'at' | 'source' | 'hidden'>
  /** A refusal's comes behind its {@link opening}. */
  readonly start: string
  readonly middle: string
  readonly end: string
}

/** The frames of the last instant, by the limit. */
const allowedFrames = new WeakMap<Limit, Frame>()
const refusedFrames = new WeakMap<Limit, Frame>()

function frameOf(outcome: Outcome): Frame {
  const frames = outcome.allowed ? allowedFrames : refusedFrames
  const known = frames.get(outcome.limit)
  if (known !== undefined && isSame(known.outcome, outcome)) return known
  const frame = makeFrame(outcome)
  frames.set(outcome.limit, frame)
  return frame
}

function isSame(a: Frame['outcome'], b: Outcome): boolean {
  return (
    a.at === b.at &&
    a.cost === b.cost &&
    a.delay === b.delay &&
    a.rule === b.rule &&
    a.source === b.source &&
    a.hidden === b.hidden
  )
}

function makeFrame(outcome: Outcome): Frame {
  const { allowed, rule, cost, delay, at, source, hidden } = outcome
  const head = headJson(outcome)
  const reason = allowed ? 'within-limit' : 'over-limit'
  return {
    outcome: { rule, cost, delay, at, source, hidden },
    start: whole(
      `${allowed ? '{' : ''}"allowed":${allowed},"reason":"${reason}",${head},"remaining":`,
    ),
    middle: whole(
      `,"delay":${allowed ? delay : 0},"at":${at},"degraded":false,"outcomes":[{${head},"cost":${cost},"allowed":${allowed},"remaining":`,
    ),
    end: whole(
      `,"delay":${delay},"at":${at},"source":"${source}","shadow":false,"hidden":${hidden}}],"skipped":[]}`,
    ),
  }
}

/** Flattens a string: V8 keeps a concatenation as a tree until it is read, and would walk the tree for every decision. */
function whole(text: string): string {
  text.charCodeAt(0)
  return text
}

function severalJson(decision: Decision, outcomes: readonly Outcome[]): string {
  const { allowed, reason, rule, skipped } = decision
  if (reason === 'blocked') return JSON.stringify(decision)
  let list = ''
  let delay = 0
  /** The decision's numbers are the binding outcome's, which are known by now. */
  let binding: Outcome | undefined
  let why = '"degraded":false'
  for (const outcome of outcomes) {
    if (outcome.marked === true || outcome.pool !== undefined) return JSON.stringify(decision)
    if (outcome.rule === rule) binding ??= outcome
    if (outcome.cause !== undefined && why === '"degraded":false')
      why = `"degraded":true,"cause":"${outcome.cause}"`
    if (allowed && !outcome.shadow && outcome.delay > delay) delay = outcome.delay
    const { cost, remaining, retryAfter, resetAfter, availableAfter, source, cause } = outcome
    const from = cause === undefined ? `"${source}"` : `"${source}","cause":"${cause}"`
    const text = `{${headJson(outcome)},"cost":${cost},"allowed":${outcome.allowed},"remaining":${remaining},"retryAfter":${retryAfter},"resetAfter":${resetAfter},"availableAfter":${availableAfter},"delay":${outcome.delay},"at":${outcome.at},"source":${from},"shadow":${outcome.shadow},"hidden":${outcome.hidden}}`
    list = list === '' ? text : `${list},${text}`
  }
  const at = outcomes.length === 0 ? 0 : outcomes[0]!.at
  const head =
    binding === undefined
      ? '"rule":null,"limit":null,"remaining":null,"retryAfter":0,"resetAfter":0,"delay":0'
      : `${headJson(binding)},"remaining":${binding.remaining},"retryAfter":${allowed ? 0 : binding.retryAfter},"resetAfter":${binding.resetAfter},"delay":${delay}`
  const passed = skipped.length === 0 ? '[]' : JSON.stringify(skipped)
  const start = allowed ? '{' : opening(decision)
  return `${start}"allowed":${allowed},"reason":"${reason}",${head},"at":${at},${why},"outcomes":[${list}],"skipped":${passed}}`
}

function headJson({ rule, limit }: Outcome): string {
  const known = heads.get(limit)
  if (known?.rule === rule) return known.text
  const text = `"rule":${JSON.stringify(rule)},"limit":${JSON.stringify(limit)}`
  heads.set(limit, { rule, text })
  return text
}
