// Conditions as predicates: which requests a rule or an override applies to.
import { show, SluiceError } from '../errors.ts'
import { attributeText, isLiteral } from '../key/key.ts'
import { holds, parseAddress, parseNetwork, type Network } from './network.ts'
import type { Attributes, Condition, Pattern, PatternObject } from './policy.ts'
import { routeSpellings } from './route-spellings.ts'

/** A condition, a rule's `when`, ready to be tested. */
export type Predicate = (attributes: Attributes) => boolean

/** What one pattern requires. */
export type Meaning =
  | { readonly kind: 'absent' | 'present' }
  /** `exact` for `{ equals }`: no other spelling is accepted. */
  | { readonly kind: 'equals' | 'prefix'; readonly text: string; readonly exact?: boolean }
  | { readonly kind: 'network'; readonly network: Network }

/** The predicate of a condition: true when every attribute matches its pattern. */
export function compileCondition(condition: Condition): Predicate {
  const tests = Object.entries(condition).map(([name, pattern]) => ({
    name,
    holds: testOf(name, pattern),
  }))
  const [only] = tests
  if (only !== undefined && tests.length === 1) {
    return (attributes) => only.holds(attributeText(attributes, only.name))
  }
  return (attributes) => {
    for (const test of tests) {
      if (!test.holds(attributeText(attributes, test.name))) return false
    }
    return true
  }
}

/** What a single pattern means for an attribute, or, as text, what would be accepted instead. */
export function meaningOf(attribute: string, pattern: unknown): Meaning | string {
  if (typeof pattern === 'number' || typeof pattern === 'boolean') return literal(pattern)
  if (typeof pattern === 'string') return textMeaning(attribute, pattern)
  if (typeof pattern !== 'object' || pattern === null || Array.isArray(pattern)) {
    return PATTERN_FORMS
  }
  const entries = Object.entries(pattern as PatternObject)
  const [kind, value] = entries[0] ?? []
  if (entries.length !== 1) return PATTERN_FORMS
  if (kind === 'equals') return literal(value, true)
  if (kind === 'network') return typeof value === 'string' ? network(value) : NETWORK_FORMS
  return PATTERN_FORMS
}

const PATTERN_FORMS =
  "'present', 'absent', a string, a string that ends in *, a finite number, a boolean, { equals }, { network }, or a list of these"
const NETWORK_FORMS = 'a network such as 10.0.0.0/8 or 2001:db8::/32, or an address'

function textMeaning(attribute: string, text: string): Meaning | string {
  if (text === '') return "a string that is not empty, or 'absent'"
  if (text === 'present' || text === 'absent') return { kind: text }
  const star = text.indexOf('*')
  if (star !== -1) {
    if (star < text.length - 1) return 'a * at the end only; { equals } takes a string literally'
    return star === 0 ? { kind: 'present' } : { kind: 'prefix', text: text.slice(0, -1) }
  }
  // Addresses have many spellings, so they are never compared as text.
  const isNetwork = attribute === 'network' && parseNetwork(text) !== undefined
  if (attribute !== 'ip' && !isNetwork) return { kind: 'equals', text }
  const meaning = network(text)
  return typeof meaning === 'string'
    ? `${meaning}, 'present', 'absent', a string that ends in *, or { equals } for any other text`
    : meaning
}

function literal(value: unknown, exact = false): Meaning | string {
  return isLiteral(value) && value !== ''
    ? { kind: 'equals', text: String(value), exact }
    : 'a string that is not empty, a finite number, or a boolean'
}

function network(text: string): Meaning | string {
  const parsed = parseNetwork(text)
  return parsed === undefined ? NETWORK_FORMS : { kind: 'network', network: parsed }
}

/** All spellings of a string in a condition: a route has several, anything else one. */
export function spellingsOf(
  attribute: string,
  { text, exact = false }: { readonly text: string; readonly exact?: boolean },
): readonly string[] {
  return attribute === 'route' && !exact ? routeSpellings(text) : [text]
}

/** One test for a pattern or a list of them: the address is parsed once however many networks there are. */
function testOf(attribute: string, pattern: Pattern): (text: string | undefined) => boolean {
  const meanings = (Array.isArray(pattern) ? pattern : [pattern]).map((single: unknown) => {
    const meaning = meaningOf(attribute, single)
    if (typeof meaning !== 'string') return meaning
    const name = show(attribute)
    throw new SluiceError('invalid-policy', `${name} is ${show(single)}; accepted: ${meaning}`)
  })
  const absent = meanings.some(({ kind }) => kind === 'absent')
  const present = meanings.some(({ kind }) => kind === 'present')
  const textsOf = (wanted: 'equals' | 'prefix'): string[] =>
    meanings.flatMap((m) => (m.kind === wanted ? spellingsOf(attribute, m) : []))
  const texts = new Set(textsOf('equals'))
  const prefixes = textsOf('prefix')
  const networks = meanings.flatMap((m) => (m.kind === 'network' ? [m.network] : []))

  return (text) => {
    if (text === undefined) return absent
    if (present || texts.has(text)) return true
    for (const prefix of prefixes) if (text.startsWith(prefix)) return true
    if (networks.length === 0) return false
    const address = parseAddress(text)
    return address !== undefined && networks.some((network) => holds(network, address))
  }
}
