// Finds keys that a client can choose, or that differ in every request: a rule by such a key refuses nobody.
import type { Rule } from 'sluice'
import type { Config } from '../config/config.ts'
import type { Step } from '../config/problem.ts'
import type { Trap } from './warning.ts'

/** Names of attributes that differ in every request, without case and separators. */
const UNIQUE = ['requestid', 'xrequestid', 'correlationid', 'traceid', 'traceparent', 'spanid']
const UNIQUE_NAMES = [...UNIQUE, 'timestamp', 'nonce', 'uuid']

/** Request fields that clients write as they like. */
const WRITTEN_BY_CLIENTS = [
  'user-agent',
  'cookie',
  'referer',
  'origin',
  'accept',
  'accept-language',
  'accept-encoding',
]

/** The escapable keys of one rule, which stands at `steps` in the file. */
export function escapableKeys(
  { name, by, when = {} }: Rule,
  { proxy: { attributes } }: Config,
  steps: readonly Step[],
): readonly Trap[] {
  return by.flatMap((attribute, i): Trap[] => {
    // A rule that names the values, such as those of known robots, counts those alone.
    if (Object.hasOwn(when, attribute) && when[attribute] !== 'present' && when[attribute] !== '*')
      return []
    const field = Object.hasOwn(attributes, attribute) ? attributes[attribute] : undefined
    const why = reason(attribute, field)
    if (why === undefined) return []
    const message = `rule ${name} counts by ${attribute}${field === undefined ? '' : ` (the field ${field})`}: ${why}; count by who sends the request, such as user, apiKey or ip`
    return [{ code: 'escapable-key', steps: [...steps, 'by', i], message }]
  })
}

function reason(attribute: string, field: string | undefined): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '')
  const isUnique =
    field === undefined
      ? UNIQUE_NAMES.includes(plain(attribute))
      : UNIQUE.includes(plain(field).replace(/^x(?=[a-z])/, ''))
  if (isUnique) return 'every request has another one, so that none is ever refused'
  if (field !== undefined && WRITTEN_BY_CLIENTS.includes(field.toLowerCase()))
    return 'a client escapes by sending another one'
  return undefined
}
