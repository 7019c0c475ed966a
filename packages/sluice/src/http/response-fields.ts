// Which header fields a response gets, and from which outcomes.
import { visibleOutcomes, type VisibleOutcome } from '../decision/lazy-decision.ts'
import type { Decision } from '../decision/decision.ts'
import { attributeText, joinWithLengths } from '../key/key.ts'
import { sha256 } from '../key/sha256.ts'
import type { Attributes, PolicyInCode } from '../policy/policy.ts'
import type { Dialect, ReportedLimit } from './headers/dialect.ts'
import { dialectsOf, unknownDialect, type DialectName } from './headers/dialects.ts'
import { wrong, type HttpOptions } from './options.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'

/** Writes the fields of one decision. */
export type FieldWriter<S> = (
  response: S,
  decision: Decision,
  attributes: Attributes | string,
) => void

/** Makes the writer of the chosen dialects. */
export function fieldWriter<Q, S>(
  adapter: FrameworkAdapter<Q, S>,
  options: HttpOptions<Q, S>,
  policy: PolicyInCode | undefined,
  dialects: readonly Dialect[],
): FieldWriter<S> {
  if (dialects.length === 0 && options.exposeHeaders !== true) return () => undefined
  const keys = partitionKeys(options.partitionKeys, policy)
  const mayMark =
    dialects.length > 0 &&
    (policy === undefined || policy.rules.some(({ onExceed }) => onExceed === 'mark'))
  const shown = ['Retry-After', ...dialects.flatMap(({ fields }) => fields)]
  if (mayMark) shown.push(MARKED)
  const exposed = options.exposeHeaders === true ? [...new Set(shown)].join(', ') : null

  return (response, decision, attributes) => {
    const all = visibleOutcomes(decision)
    if (mayMark && decision.allowed) writeMarked(adapter, response, all)
    let outcomes = all
    for (const { hidden, shadow } of all) {
      if (!hidden && !shadow) continue
      // A client may see the outcomes that count and are not hidden.
      outcomes = all.filter((one) => !one.hidden && !one.shadow)
      break
    }
    if (outcomes.length > 0) {
      const partitionKey = keys === null ? null : keys.bind(undefined, attributes)
      for (const dialect of dialects) dialect.write(adapter, response, outcomes, partitionKey)
    }
    if (exposed !== null) {
      const before = adapter.get(response, EXPOSE)
      adapter.set(response, EXPOSE, before === undefined ? exposed : `${before}, ${exposed}`)
    }
  }
}

/** The soft limits that the request is over, as a list of strings. */
const MARKED = 'X-RateLimit-Marked'

function writeMarked<Q, S>(
  adapter: FrameworkAdapter<Q, S>,
  response: S,
  outcomes: readonly VisibleOutcome[],
): void {
  const rules = outcomes.filter(({ marked, hidden }) => marked === true && !hidden)
  if (rules.length > 0)
    adapter.set(response, MARKED, rules.map(({ rule }) => JSON.stringify(rule)).join(', '))
}

const EXPOSE = 'Access-Control-Expose-Headers'

/** The dialects that the option names. Throws `invalid-option`. */
export function dialectsIn(
  headers: HttpOptions<unknown>['headers'] = 'structured',
): readonly Dialect[] {
  if (headers === false) return []
  if (typeof headers === 'string') return dialectsOf([headers])
  if (!Array.isArray(headers)) throw unknownDialect(headers)
  return dialectsOf(headers as readonly DialectName[])
}

/** 12 characters of base64 are 9 bytes: too many to collide by chance, too few to say more. */
const KEY_LENGTH = 12

/** The partition of an outcome as base64: a hash of what the rule counts by, keyed so that it cannot be reversed by guessing. */
function partitionKeys(
  option: HttpOptions<unknown>['partitionKeys'],
  policy: PolicyInCode | undefined,
): ((attributes: Attributes | string, reported: ReportedLimit) => string | undefined) | null {
  if (option === undefined) return null
  const { secret } = { ...option }
  if (typeof secret !== 'string' || secret.length < 16)
    throw wrong(
      'partitionKeys.secret is missing or short; accepted: a string of 16 characters or more',
    )
  if (policy === undefined)
    throw wrong('partitionKeys need a limiter made by createLimiter, whose rules are known')
  const byRule = new Map(policy.rules.map(({ name, by }) => [name, by]))
  return (attributes, { rule }) => {
    const by = byRule.get(rule) ?? []
    if (by.length === 0) return undefined
    const known: Attributes = typeof attributes === 'string' ? { key: attributes } : attributes
    const values = by.map((name) => attributeText(known, name) ?? '')
    const hash = sha256(joinWithLengths([secret, rule, ...values])).slice(0, KEY_LENGTH)
    return hash.replaceAll('-', '+').replaceAll('_', '/')
  }
}
