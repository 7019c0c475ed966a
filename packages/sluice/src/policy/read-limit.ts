// Reads the limits in a policy, and reports mistakes in them by their paths.
import { show } from '../errors.ts'
import {
  LIMIT_FIELDS,
  rateFields,
  RATE_FORMS,
  readLimit as limitOf,
  type Limit,
  type LimitProblem,
} from '../limit/limit.ts'
import type { LimitOrNone } from './policy.ts'
import { addProblem, readFields, addWrongValue, type Problems } from './reading.ts'

/** The limit in full; undefined, with every mistake noted, when it is not one. */
export function readPolicyLimit(
  problems: Problems,
  path: string,
  value: unknown,
  alternative = '',
): Limit | undefined {
  if (typeof value === 'string') return readRate(problems, path, value, alternative)
  const accepted = `${RATE_FORMS}${alternative}, or { ${LIMIT_FIELDS.join(', ')} }`
  const table = readFields(problems, path, value, LIMIT_FIELDS, accepted)
  if (table === undefined) return undefined
  const fields: Record<string, unknown> = {}
  for (const name of LIMIT_FIELDS) {
    if (table.get(name) !== undefined) fields[name] = table.get(name)
  }
  const found: LimitProblem[] = []
  const limit = limitOf(fields, found)
  for (const { field, value: member, message } of found) {
    problems.push({ path: `${path}.${field}`, value: member, message: `${path}.${message}` })
  }
  return limit && Object.freeze(limit)
}

/** Like {@link readPolicyLimit}, where a rule may also be lifted. */
export function readLimitOrNone(
  problems: Problems,
  path: string,
  value: unknown,
): LimitOrNone | undefined {
  return value === 'unlimited' ? value : readPolicyLimit(problems, path, value, ", 'unlimited'")
}

function readRate(
  problems: Problems,
  path: string,
  text: string,
  alternative: string,
): Limit | undefined {
  const fields = rateFields(text)
  if (Object.hasOwn(fields, 'rate')) {
    addWrongValue(problems, path, text, RATE_FORMS + alternative)
    return undefined
  }
  const found: LimitProblem[] = []
  const limit = limitOf(fields, found)
  for (const { message } of found) addProblem(problems, path, text, `is ${show(text)}: ${message}`)
  return limit && Object.freeze(limit)
}
