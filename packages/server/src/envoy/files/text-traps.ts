// Traps in the texts of descriptor files: what looks like a variable, a pattern or a network, and is literal.
import { isIP } from 'node:net'
import { nearestName } from '../../config/problem.ts'
import { listIn } from '../../config/literal-patterns.ts'
import type { Place } from './node.ts'
import type { Notes } from './notes.ts'

/** The texts of a descriptor. */
interface Texts {
  readonly place: Place
  readonly path: string
  readonly key: string
  readonly value?: string
}

/** What other files, and templates of them, replace by a variable. */
export const VARIABLE = /\$\{[^}]*\}|^\$[A-Z_][A-Z0-9_]*$|^%[A-Z_][A-Z0-9_]*%$|\{\{.*\}\}/
/** What people write in regular expressions, and hardly ever in values. `name.*` may be a prefix. */
const PATTERN = /^\^|\$$|\/\.\*|\.\*.|\.\+|\\[dws.]|\(\?|\)\*?$/
/** The keys that actions of Envoy have unless the route says otherwise. */
const ENVOY_KEYS = [
  'remote_address',
  'masked_remote_address',
  'generic_key',
  'header_match',
  'query_match',
  'source_cluster',
  'destination_cluster',
]
/** Keys whose values are addresses. */
const ADDRESS_KEY = /(?:^|[_-])(?:ip|addr|address)(?:[_-]|$)/i

/** Notes the traps in the key and the value of one descriptor. */
export function reportTexts({ place, path, key, value = '' }: Texts, notes: Notes): void {
  for (const [what, text] of [
    ['key', key],
    ['value', value],
  ] as const) {
    const remark = textRemark(what, text)
    if (remark !== undefined) notes.warn(remark.code, place, path, `${path}: ${remark.message}`)
  }
  if (!VARIABLE.test(value) && PATTERN.test(value))
    notes.warn(
      'pattern-value',
      place,
      path,
      `${path}: values are no regular expressions, so this one stands for itself; write the whole value, or its beginning and a *`,
    )
  const list = listIn(value)
  if (list !== undefined && !PATTERN.test(value))
    notes.warn(
      'pattern-value',
      place,
      path,
      `${path}: the value is one text, not a list; write a descriptor for each of ${list.join(', ')}`,
    )
  const meant = ENVOY_KEYS.includes(key) ? undefined : nearestName(key, ENVOY_KEYS)
  if (meant !== undefined)
    notes.warn(
      'misspelled-key',
      place,
      path,
      `${path}: no action of Envoy has the key ${key} by itself; did you mean ${meant}?`,
    )
  const address = addressRemark(key, value)
  if (address !== undefined) notes.warn('address-value', place, path, `${path}: ${address}`)
}

/** Notes the traps of a domain as a whole. */
export function reportDomain(
  domain: string,
  descriptors: readonly unknown[],
  place: Place,
  notes: Notes,
): void {
  const remark = textRemark('domain', domain)
  if (remark !== undefined) notes.warn(remark.code, place, 'domain', remark.message)
  if (descriptors.length === 0)
    notes.warn(
      'no-descriptors',
      place,
      'descriptors',
      `the domain ${domain} has no descriptors, so nothing in it is limited; add descriptors`,
    )
}

function textRemark(
  what: string,
  text: string,
): { code: 'plain-variable' | 'stray-space'; message: string } | undefined {
  const variable = VARIABLE.exec(text)?.[0]
  if (variable !== undefined)
    return {
      code: 'plain-variable',
      message: `the ${what} has ${variable}, which stands for itself: descriptor files have no variables; write the ${what} itself`,
    }
  if (text.trim() === text) return undefined
  return {
    code: 'stray-space',
    message: `the ${what} ${JSON.stringify(text)} has a space at an end, which requests do not have; write ${JSON.stringify(text.trim())}`,
  }
}

/** Why no request has a value of a key that holds addresses. */
function addressRemark(key: string, value: string): string | undefined {
  if (!ADDRESS_KEY.test(key) || value.endsWith('*')) return undefined
  const [address = '', bits, ...more] = value.split('/')
  if (isIP(address) === 0 || more.length > 0)
    return /^[\d.]+:\d+$|^\[.*\](?::\d+)?$/.test(value)
      ? 'addresses of requests have neither port nor brackets; write the address alone'
      : undefined
  const isMasked = key === 'masked_remote_address'
  if (isMasked && bits === undefined)
    return 'masked addresses have their bits behind them; write 192.0.2.0/24 or the like'
  if (!isMasked && bits !== undefined)
    return 'values are compared as texts, and no request has a network for its address; use the action masked_remote_address, or a beginning such as 10.1.*'
  const written = writtenAs(address)
  return written === address ? undefined : `no request has it: it would be written ${written}`
}

/** An address as proxies write it. */
function writtenAs(address: string): string {
  return isIP(address) === 6 ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address
}
