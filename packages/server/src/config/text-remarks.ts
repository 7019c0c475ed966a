// What only the text of a file shows: numbers that were written in another way than they are compared, references to
// variables that nothing replaces, and durations without a unit.
import { visit, type Document, type Scalar } from 'yaml'
import { stepsTo } from './interpolate.ts'
import type { ConfigRemark, Step } from './problem.ts'

/** The most remarks about one file. */
const MAX_REMARKS = 100

/** `$NAME`, `%NAME%` and `{{ NAME }}`, as shells, Windows and templates write them. */
const OTHER_REFERENCE = /^(?:\$[A-Z_][A-Z0-9_]*|%[A-Z_][A-Z0-9_]*%|\{\{.*\}\})$/

/** Strings that a remark may be about, so that most of them are passed over at once. */
const MAY_BE_REMARKED = /^(?:[$%{]|(?:yes|no|on|off)$)/i

/** The remarks about a parsed file, before variables are put into it. */
export function remarksOn(document: Document): readonly ConfigRemark[] {
  return remarksBy(document, (scalar, steps, isKey) => {
    const reference = otherReference(scalar)
    if (reference !== undefined) return reference
    return isCompared(steps, isKey) ? (rewritten(scalar) ?? wordForBoolean(scalar)) : undefined
  })
}

/** The durations of policies that are bare numbers and probably meant as seconds, also those of variables. */
export function bareDurations(document: Document): readonly ConfigRemark[] {
  return remarksBy(document, ({ value }, steps, isKey) => {
    const name = String(steps.at(-1))
    if (isKey || steps[0] !== 'policies' || !DURATIONS.includes(name)) return undefined
    if (typeof value !== 'number' || !isBareDuration(value)) return undefined
    const message = `${name} is ${value} milliseconds; write ${value}s for seconds, or ${value}ms`
    return { code: 'bare-duration', message }
  })
}

function remarksBy(
  document: Document,
  find: (scalar: Scalar, steps: readonly Step[], isKey: boolean) => Remark | undefined,
): readonly ConfigRemark[] {
  const remarks: ConfigRemark[] = []
  visit(document, {
    Scalar(key, scalar, path) {
      if (remarks.length >= MAX_REMARKS) return visit.BREAK
      if (typeof scalar.value === 'string' && !MAY_BE_REMARKED.test(scalar.value)) return undefined
      const steps = stepsTo(key, path)
      const found = find(scalar, steps, key === 'key')
      if (found !== undefined) remarks.push({ ...found, steps })
      return undefined
    },
  })
  return remarks
}

type Remark = Omit<ConfigRemark, 'steps'>

function otherReference({ value }: Scalar): Remark | undefined {
  if (typeof value !== 'string' || !OTHER_REFERENCE.test(value)) return undefined
  const name = /[A-Za-z_]\w*/.exec(value)?.[0] ?? 'NAME'
  const message = `${value} is taken as it stands: no variable is read here; write \${${name}}, or \${${name}:-default}`
  return { code: 'unread-variable', message }
}

/** Fields of policies that are durations. */
const DURATIONS = ['window', 'hold', 'for', 'within', 'upTo']

/**
 * Whether a number of milliseconds was probably meant as seconds: it is below a second or no whole number of seconds, or
 * it is whole days in seconds and no whole minutes in milliseconds.
 */
export function isBareDuration(value: number): boolean {
  if (value <= 0) return false
  return value % 1000 !== 0 || (value % 86_400 === 0 && value % 60_000 !== 0)
}

/** A number, or true or false, that is compared by another text than the file has. */
function rewritten({ value, source }: Scalar): Remark | undefined {
  if (typeof value !== 'number' && typeof value !== 'boolean') return undefined
  if (source === undefined || source === String(value)) return undefined
  const message = `${source} is read as ${JSON.stringify(value) ?? ''} and compared as "${value}": no request with ${source} matches; write "${source}" in quotes if that is meant, else ${value}`
  return { code: 'unquoted-number', message }
}

/** A word that other readers of YAML take for true or false, without quotes. */
function wordForBoolean({ value, type }: Scalar): Remark | undefined {
  if (typeof value !== 'string' || type !== 'PLAIN') return undefined
  const isTrue = /^(?:yes|on)$/i.test(value)
  if (!isTrue && !/^(?:no|off)$/i.test(value)) return undefined
  const message = `${value} is the string "${value}", not ${isTrue}; write ${isTrue}, or "${value}" in quotes if requests have this value`
  return { code: 'unquoted-number', message }
}

/** Whether a value is compared with attributes of requests: in a condition, or as the name of a tier. */
function isCompared(steps: readonly Step[], isKey: boolean): boolean {
  if (steps[0] !== 'policies' || steps[2] !== 'rules') return false
  const within = steps.slice(4)
  if (isKey) return within.length === 3 && within[0] === 'tiers' && within[1] === 'limits'
  const condition = within[0] === 'overrides' ? within.slice(2) : within
  return condition[0] === 'when' && condition.length > 1
}
