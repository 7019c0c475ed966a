// What only the text of a file shows: numbers that were written in another way than they are compared, and references
// to variables that nothing replaces.
import { isPair, isScalar, visit, type Document, type Node, type Scalar } from 'yaml'
import { stepsTo } from './interpolate.ts'
import type { ConfigRemark, Step } from './problem.ts'

/** The most remarks about one file. */
const MAX_REMARKS = 100

/** `$NAME`, `%NAME%` and `{{ NAME }}`, as shells, Windows and templates write them. */
const OTHER_REFERENCE = /^(?:\$[A-Z_][A-Z0-9_]*|%[A-Z_][A-Z0-9_]*%|\{\{.*\}\})$/

/** The remarks about a parsed file, before variables are put into it. */
export function remarksOn(document: Document): readonly ConfigRemark[] {
  const remarks: ConfigRemark[] = []
  visit(document, {
    Scalar(key, scalar, path) {
      if (remarks.length >= MAX_REMARKS) return visit.BREAK
      const found = otherReference(scalar) ?? bareDuration(scalar, path) ?? rewritten(scalar)
      if (found === undefined) return undefined
      const steps = stepsTo(key, path)
      if (found.code === 'bare-duration' && steps[0] !== 'policies') return undefined
      if (found.code !== 'unquoted-number' || isCompared(steps, key === 'key'))
        remarks.push({ ...found, steps })
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

/** A number below 1000 where a duration stands: milliseconds, though seconds are meant most of the time. */
function bareDuration(
  { value }: Scalar,
  path: readonly (Document | Node | object)[],
): Remark | undefined {
  const pair = path.at(-1)
  if (typeof value !== 'number' || value <= 0 || value >= 1000) return undefined
  if (!isPair(pair) || !isScalar(pair.key) || !DURATIONS.includes(String(pair.key.value)))
    return undefined
  const name = String(pair.key.value)
  const message = `${name} is ${value} milliseconds; write ${value}s for seconds, or ${value}ms`
  return { code: 'bare-duration', message }
}

/** A number, or true or false, that is compared by another text than the file has. */
function rewritten({ value, source }: Scalar): Remark | undefined {
  if (typeof value !== 'number' && typeof value !== 'boolean') return undefined
  if (source === undefined || source === String(value)) return undefined
  const message = `${source} is read as ${JSON.stringify(value) ?? ''} and compared as "${value}": no request with ${source} matches; write "${source}" in quotes if that is meant, else ${value}`
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
