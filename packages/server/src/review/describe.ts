// Policies in words, for people: what is limited and how.
import {
  limit,
  limitText as limitInWords,
  type Condition,
  type Duration,
  type Limit,
  type LimitOrNone,
  type Lockout,
  type Pattern,
  type Policy,
  type Rule,
} from 'sluice'

/** One line for the policy, and for every rule one or more below it. */
export function describePolicy(policy: Policy): readonly string[] {
  const width = policy.rules.reduce((most, { name }) => Math.max(most, name.length), 0)
  return [
    `policy ${policy.name}`,
    ...policy.rules.flatMap((rule) => {
      const [first, ...more] = describeRule(rule)
      const indent = ' '.repeat(width + 4)
      return [`  ${rule.name.padEnd(width)}  ${first}`, ...more.map((line) => indent + line)]
    }),
  ]
}

function describeRule(rule: Rule): readonly string[] {
  const { when = {}, by, tiers, overrides = [] } = rule
  const whom = by.length === 0 ? 'for all together' : `for each ${by.join(' + ')}`
  const condition = Object.keys(when).length === 0 ? '' : `, when ${conditionText(when)}`
  const lines = [`${limitText(rule.limit)} ${whom}${condition}`]
  for (const override of overrides)
    lines.push(`${limitText(override.limit)} when ${conditionText(override.when)}`)
  for (const [value, tier] of Object.entries(tiers?.limits ?? {}))
    lines.push(`${limitText(tier)} when ${tiers?.attribute} is ${value}`)
  const notes = notesOf(rule)
  return notes.length === 0 ? lines : [...lines, notes.join('; ')]
}

function notesOf(rule: Rule): readonly string[] {
  const { cost, shadow, countRefused, hidden, onStoreFailure, candidate, lockout } = rule
  const notes: string[] = []
  if (rule.hold !== undefined && rule.concurrency === undefined)
    notes.push(`a budget: what is reserved comes free after ${spanText(rule.hold as Duration)}`)
  if (typeof cost === 'number') notes.push(`each request costs ${cost}`)
  if (typeof cost === 'string') notes.push(`a request costs what ${cost} says`)
  if (shadow === true) notes.push('shadow: counted, never enforced')
  if (countRefused === true) notes.push('refused requests count too')
  if (rule.onExceed === 'mark') notes.push('requests over it pass, marked')
  if (lockout !== undefined)
    notes.push(
      `after ${lockout.after} refusals the key is shut for ${spanText(lockout.for)}${growthText(lockout)}`,
    )
  for (const pool of rule.pools ?? [])
    notes.push(`then ${limitText(pool.limit)} of the pool ${pool.name}`)
  if (rule.thresholds !== undefined) notes.push(`events at ${rule.thresholds.join(' and ')} %`)
  if (rule.coordination !== undefined && rule.coordination !== 'strict')
    notes.push(`coordination: ${rule.coordination}`)
  if (candidate !== undefined) notes.push(`on trial: ${limitText(candidate)}`)
  if (hidden === true) notes.push('not shown in headers')
  if (onStoreFailure === 'open') notes.push('without the store: lets through')
  if (onStoreFailure === 'closed') notes.push('without the store: refuses')
  return notes
}

/** How locks grow, for the end of a sentence. */
function growthText({ grow = 1, upTo }: Lockout): string {
  if (grow === 1) return ''
  const most = upTo === undefined ? '' : `, at most ${spanText(upTo)}`
  return `, ${grow} times as long each time${most}`
}

/** A limit as people say it: `100/min, at most 20 at once (token bucket)`. */
function limitText(input: LimitOrNone): string {
  if (input === 'unlimited') return 'unlimited'
  const made = limit(input)
  if (made.slots === true) return limitInWords(made)
  const { algorithm, quota, window, burst, calendar, timeZone, startsOn, anchor, stamps }: Limit =
    made
  const most = burst === quota ? '' : `, at most ${burst} at once`
  const from =
    calendar !== undefined
      ? ` of the calendar in ${timeZone ?? 'UTC'}${firstDayText(startsOn)}`
      : anchor !== undefined
        ? ' from the first request'
        : ''
  const period = calendar ?? windowText(window)
  const kept = stamps === undefined ? '' : ` of ${stamps} stamps`
  return `${quota}/${period}${from}${most} (${algorithm.replaceAll('-', ' ')}${kept})`
}

/** The first day of a period, unless it is the usual one. */
function firstDayText(startsOn: Limit['startsOn']): string {
  if (startsOn === undefined || startsOn === 1 || startsOn === 'monday') return ''
  return ` from ${typeof startsOn === 'number' ? `day ${startsOn}` : startsOn}`
}

const UNITS = [
  [604_800_000, 'w'],
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
  [1, 'ms'],
] as const

function windowText(window: number): string {
  const [size, unit] = UNITS.find(([size]) => window % size === 0) ?? [1, 'ms']
  return window === size ? unit : `${window / size}${unit}`
}

function spanText(duration: Duration): string {
  return typeof duration === 'string' ? duration : windowText(duration).replace(/^\D/, '1$&')
}

function conditionText(condition: Condition): string {
  return Object.entries(condition)
    .map(([attribute, pattern]) => `${attribute} is ${patternText(pattern)}`)
    .join(' and ')
}

function patternText(pattern: Pattern): string {
  if (Array.isArray(pattern)) return (pattern as readonly Pattern[]).map(patternText).join(' or ')
  if (typeof pattern !== 'object') return String(pattern)
  if ('equals' in pattern) return JSON.stringify(pattern.equals)
  return 'network' in pattern ? `in ${pattern.network}` : ''
}
