// Which header fields a response gets, and from which outcomes.
import { visibleOutcomes, type VisibleOutcome } from '../decision/lazy-decision.ts'
import type { Decision } from '../decision/decision.ts'
import { joined } from '../key/key.ts'
import { sha256 } from '../key/sha256.ts'
import { attributeText } from '../policy/pattern.ts'
import type { Attributes, Policy } from '../policy/policy.ts'
import { show } from '../errors.ts'
import type { Dialect, PartitionKey } from './headers/dialect.ts'
import { DIALECT_NAMES, dialectOf, type DialectName } from './headers/index.ts'
import { wrong, type HttpOptions } from './options.ts'
import type { Port } from './port.ts'

/** Writes the fields of one decision. */
export type FieldWriter<S> = (response: S, decision: Decision, subject: Attributes | string) => void

/** Makes the writer of the chosen dialects. */
export function fieldWriter<Q, S>(
  port: Port<Q, S>,
  options: HttpOptions<Q, S>,
  policy: Policy | undefined,
  dialects: readonly Dialect[],
): FieldWriter<S> {
  if (dialects.length === 0 && options.exposeHeaders !== true) return () => undefined
  const [first] = dialects
  const keys = partitionKeys(options.partitionKeys, policy)
  const exposed =
    options.exposeHeaders === true
      ? [...new Set(['Retry-After', ...dialects.flatMap(({ fields }) => fields)])].join(', ')
      : null

  return (response, decision, subject) => {
    const outcomes = visible(visibleOutcomes(decision))
    if (outcomes.length > 0) {
      const partitionKey: PartitionKey = keys === null ? null : (outcome) => keys(outcome, subject)
      if (dialects.length === 1) first!.write(port, response, outcomes, partitionKey)
      else for (const dialect of dialects) dialect.write(port, response, outcomes, partitionKey)
    }
    if (exposed !== null) {
      const before = port.get(response, EXPOSE)
      port.set(response, EXPOSE, before === undefined ? exposed : `${before}, ${exposed}`)
    }
  }
}

const EXPOSE = 'Access-Control-Expose-Headers'

/** The outcomes that a client may see: those that count and are not hidden. */
function visible(outcomes: readonly VisibleOutcome[]): readonly VisibleOutcome[] {
  for (let i = 0; i < outcomes.length; i++) {
    const outcome = outcomes[i] as VisibleOutcome
    if (outcome.hidden || outcome.shadow)
      return outcomes.filter((one) => !one.hidden && !one.shadow)
  }
  return outcomes
}

/** The dialects that the option names. Throws `invalid-option`. */
export function dialectsOf(
  headers: HttpOptions<unknown>['headers'] = 'structured',
): readonly Dialect[] {
  const names = headers === false ? [] : typeof headers === 'string' ? [headers] : headers
  const isKnown = Array.isArray(names) && names.every((name) => DIALECT_NAMES.includes(name))
  if (!isKnown)
    throw wrong(
      `headers is ${show(headers)}; accepted: ${DIALECT_NAMES.join(', ')}, a list of these, or false`,
    )
  const list: readonly DialectName[] = [...new Set(names)]
  const sharing = list.filter((name) => name === 'structured' || name.startsWith('draft-'))
  if (sharing.length > 1)
    throw wrong(
      `headers are ${sharing.join(' and ')}, which write the same fields; accepted: one of them`,
    )
  return list.map(dialectOf)
}

/** 12 characters of base64 are 9 bytes: too many to collide by chance, too few to say more. */
const KEY_LENGTH = 12

/** The partition of an outcome as base64: a hash of what the rule counts by, keyed so that nobody can guess backwards. */
function partitionKeys(
  option: HttpOptions<unknown>['partitionKeys'],
  policy: Policy | undefined,
): ((outcome: VisibleOutcome, subject: Attributes | string) => string | undefined) | null {
  if (option === undefined) return null
  const { secret } = { ...option }
  if (typeof secret !== 'string' || secret.length < 16)
    throw wrong(
      'partitionKeys.secret is missing or short; accepted: a text of 16 characters or more',
    )
  if (policy === undefined)
    throw wrong('partitionKeys need a limiter made by createLimiter, whose rules are known')
  const byRule = new Map(policy.rules.map(({ name, by }) => [name, by]))
  return ({ rule }, subject) => {
    const by = byRule.get(rule) ?? []
    if (by.length === 0) return undefined
    const attributes: Attributes = typeof subject === 'string' ? { key: subject } : subject
    const values = by.map((name) => attributeText(attributes, name) ?? '')
    const hash = sha256(joined([secret, rule, ...values])).slice(0, KEY_LENGTH)
    return hash.replaceAll('-', '+').replaceAll('_', '/')
  }
}
