// The screen as lines of text: a head, the rules, and who is refused most.
import { styleText } from 'node:util'
import { fitted, millisText, rateText, shareText } from '../terminal/fitted.ts'
import type { RuleRates, View } from './view.ts'

/** What the screen can hold. */
export interface Screen {
  readonly columns: number
  /** Infinity for a stream without a height. */
  readonly rows: number
  readonly colour: boolean
}

type Style = Parameters<typeof styleText>[0]
interface Line {
  readonly text: string
  readonly style?: Style
}

const NUMBER = 11
/** Offenders that are shown at most. */
const MOST_OFFENDERS = 20

/** The view in at most `rows` lines of at most `columns` columns. */
export function render(view: View, { columns, rows, colour }: Screen): readonly string[] {
  const head = headOf(view, columns)
  const offenders = offendersOf(view, columns)
  // The head is always there; then rules and offenders share what is left.
  const room = Math.max(0, rows - head.length)
  const least = Math.min(offenders.length, Math.ceil(room / 3))
  const rules = shortened(rulesOf(view, columns), room - least)
  const lines = [...head, ...rules, ...shortened(offenders, room - rules.length)].slice(0, rows)
  return lines.map(({ text, style }) => {
    const fits = fitted(text, columns).trimEnd()
    return colour && style !== undefined ? styleText(style, fits) : fits
  })
}

function headOf(view: View, columns: number): readonly Line[] {
  const { decisions, refused, blocked, unavailable, degraded, p50, p99 } = view
  const parts = [
    `decisions ${rateText(decisions)}/s`,
    `refused ${rateText(refused)}/s (${shareText(refused, decisions)})`,
    `p50 ${millisText(p50)}`,
    `p99 ${millisText(p99)}`,
    ...(blocked > 0 ? [`blocked ${rateText(blocked)}/s`] : []),
    ...(unavailable > 0 ? [`unavailable ${rateText(unavailable)}/s`] : []),
    `degraded ${rateText(degraded)}/s`,
  ]
  const notClosed = Object.entries(view.breakers).filter(([, state]) => state !== 'closed')
  const store = [
    view.keys === null ? 'counts in a remote store' : `${view.keys.toLocaleString('en')} keys`,
    ...(Object.keys(view.breakers).length === 0 ? [] : [breakerText(notClosed)]),
    ...(view.blocks === null ? [] : [`${view.blocks} blocked`]),
    ...(view.overrides === null ? [] : [`${view.overrides} overrides`]),
    `${Math.round(view.memory / 1e6)} MB`,
  ]
  const isServing = view.status === 'serving'
  const isDegraded = notClosed.length > 0 || degraded > 0
  return [
    {
      text: `sluice ${view.version}  ${view.status}  ${view.url}`,
      style: isServing ? 'bold' : 'red',
    },
    ...wrapped(parts, columns).map((text) => ({ text })),
    ...wrapped(store, columns).map((text): Line =>
      isDegraded ? { text, style: 'yellow' } : { text },
    ),
  ]
}

function breakerText(notClosed: readonly (readonly [string, string])[]): string {
  if (notClosed.length === 0) return 'breakers closed'
  return notClosed.map(([policy, state]) => `breaker of ${policy} ${state}`).join(', ')
}

/** Parts in lines, two spaces between them. */
function wrapped(parts: readonly string[], columns: number): readonly string[] {
  const lines: string[] = []
  for (const part of parts) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 2 + part.length <= columns)
      lines[lines.length - 1] = `${last}  ${part}`
    else lines.push(part)
  }
  return lines
}

function rulesOf({ rules }: View, columns: number): readonly Line[] {
  const shown = rules.filter((one) => one.rule !== '' || totalOf(one) > 0)
  const isNarrow = columns < 60
  const name = Math.max(8, columns - NUMBER * (isNarrow ? 2 : 3))
  const row = (first: string, numbers: readonly string[]): string =>
    fitted(first, name) + numbers.map((number) => fitted(number, NUMBER, 'right')).join('')
  const lines: Line[] = [{ text: '' }]
  const title = isNarrow ? ['allowed/s', 'refused/s'] : ['allowed/s', 'refused/s', 'refused']
  lines.push({ text: row('POLICY, RULE', title), style: 'dim' })
  let policy: string | undefined
  for (const one of shown) {
    if (one.policy !== policy) lines.push({ text: fitted(one.policy, columns), style: 'bold' })
    policy = one.policy
    const refusals = one.refused + one.unavailable + one.blocked
    const label =
      one.rule === '' ? (one.blocked > 0 ? '(blocked, or no rule)' : '(no rule)') : one.rule
    const numbers = [rateText(one.allowed), rateText(refusals), shareText(refusals, totalOf(one))]
    const text = row(`  ${label}`, numbers.slice(0, title.length))
    lines.push(refusals > 0 ? { text, style: 'red' } : { text })
  }
  return lines
}

function totalOf({ allowed, refused, unavailable, blocked }: RuleRates): number {
  return allowed + refused + unavailable + blocked
}

function offendersOf({ offenders, offendersProblem }: View, columns: number): readonly Line[] {
  const name = Math.max(8, columns - NUMBER)
  const head: Line = {
    text:
      fitted('REFUSED MOST, in the last minute or two', name) + fitted('refused', NUMBER, 'right'),
    style: 'dim',
  }
  if (offendersProblem !== null) return [{ text: '' }, head, { text: `  ${offendersProblem}` }]
  if (offenders.length === 0) return [{ text: '' }, head, { text: '  none' }]
  const rows = offenders.slice(0, MOST_OFFENDERS).map(({ policy, rule, attributes, refused }) => {
    const who = Object.entries(attributes).map(([attribute, value]) => `${attribute}=${value}`)
    const text = `  ${who.join(' ') || 'everybody'}  (${policy}, ${rule})`
    return { text: fitted(text, name) + fitted(refused.toLocaleString('en'), NUMBER, 'right') }
  })
  return [{ text: '' }, head, ...rows]
}

/** The lines, or as many as there is room for and how many more there are. */
function shortened(lines: readonly Line[], room: number): readonly Line[] {
  if (lines.length <= room) return lines
  if (room <= 1) return lines.slice(0, Math.max(0, room))
  return [
    ...lines.slice(0, room - 1),
    { text: `  … ${lines.length - room + 1} more`, style: 'dim' },
  ]
}
