// Whether two conditions can hold together, judged by their patterns alone.
import type { Condition, Pattern } from 'sluice'
import { areApart, isNetwork, isWithin } from '../config/literal-patterns.ts'

/** Whether some request could meet both conditions. True when in doubt. */
export function canHoldTogether(a: Condition, b: Condition): boolean {
  return Object.entries(a).every(([attribute, pattern]) => {
    const other = Object.hasOwn(b, attribute) ? b[attribute] : undefined
    return (
      other === undefined ||
      overlap(alternatives(pattern, attribute), alternatives(other, attribute))
    )
  })
}

/** Whether every request that meets one condition meets another, judged by their patterns alone. */
export function covers(wide: Condition, narrow: Condition): boolean {
  return Object.entries(wide).every(([attribute, pattern]) => {
    const other = Object.hasOwn(narrow, attribute) ? narrow[attribute] : undefined
    if (other === undefined) return false
    const all = alternatives(pattern, attribute)
    return alternatives(other, attribute).every((one) => all.some((each) => includes(each, one)))
  })
}

/** Whether every value that matches one alternative matches another. */
function includes(wide: Alternative, narrow: Alternative): boolean {
  if (wide.kind === 'absent' || narrow.kind === 'absent') return wide.kind === narrow.kind
  if (wide.kind === 'present') return true
  if (wide.kind === 'network') return narrow.kind === 'network' && isWithin(narrow.text, wide.text)
  if (wide.kind === 'prefix')
    return (narrow.kind === 'text' || narrow.kind === 'prefix') && narrow.text.startsWith(wide.text)
  return narrow.kind === 'text' && narrow.text === wide.text
}

/** Whether a condition asks for an attribute not to be known. */
export function requiresAbsence(condition: Condition, attribute: string): boolean {
  const pattern = Object.hasOwn(condition, attribute) ? condition[attribute] : undefined
  return pattern !== undefined && alternatives(pattern).every(({ kind }) => kind === 'absent')
}

/** Whether a condition may hold for a request that does not have the attribute. */
export function holdsWithout(condition: Condition, attribute: string): boolean {
  const pattern = Object.hasOwn(condition, attribute) ? condition[attribute] : undefined
  return pattern === undefined || alternatives(pattern).some(({ kind }) => kind === 'absent')
}

/** The texts that a condition names for an attribute; undefined when it does not limit them to a list. */
export function textsFor(condition: Condition, attribute: string): readonly string[] | undefined {
  const pattern = Object.hasOwn(condition, attribute) ? condition[attribute] : undefined
  if (pattern === undefined) return undefined
  const all = alternatives(pattern, attribute)
  return all.every(({ kind }) => kind === 'text') ? all.map(({ text }) => text) : undefined
}

type Kind = 'absent' | 'present' | 'text' | 'prefix' | 'network'

interface Alternative {
  readonly kind: Kind
  readonly text: string
}

function alternatives(pattern: Pattern, attribute = ''): readonly Alternative[] {
  if (Array.isArray(pattern))
    return (pattern as readonly Pattern[]).flatMap((one) => alternatives(one, attribute))
  if (typeof pattern === 'object') {
    if ('network' in pattern) return [{ kind: 'network', text: pattern.network }]
    return [{ kind: 'text', text: String('equals' in pattern ? pattern.equals : '') }]
  }
  const text = String(pattern)
  if (text === 'absent') return [{ kind: 'absent', text: '' }]
  if (text === 'present' || text === '*') return [{ kind: 'present', text: '' }]
  if (text.endsWith('*')) return [{ kind: 'prefix', text: text.slice(0, -1) }]
  const isAddress = attribute === 'ip' || (attribute === 'network' && isNetwork(text))
  return [{ kind: isAddress ? 'network' : 'text', text }]
}

function overlap(some: readonly Alternative[], others: readonly Alternative[]): boolean {
  return some.some((a) => others.some((b) => meet(a, b)))
}

function meet(a: Alternative, b: Alternative): boolean {
  if (a.kind === 'absent' || b.kind === 'absent') return a.kind === b.kind
  if (a.kind === 'present' || b.kind === 'present') return true
  if (a.kind === 'network' && b.kind === 'network') return !areApart(a.text, b.text)
  // Addresses have many spellings, so they are not compared with texts.
  if (a.kind === 'network' || b.kind === 'network') return true
  if (a.kind === 'text' && b.kind === 'text') return a.text === b.text
  if (a.kind === 'text') return a.text.startsWith(b.text)
  if (b.kind === 'text') return b.text.startsWith(a.text)
  return a.text.startsWith(b.text) || b.text.startsWith(a.text)
}
