// Puts a limit on trial in the place of the rule's own, or enforces a shadow rule, in the text of a configuration.
import { limit, limitText, type LimitInput } from 'sluice'
import { isMap, isSeq, parseDocument, type Node, type Pair, type YAMLMap } from 'yaml'

/** The rule cannot be promoted; the message says why. */
export class PromotionError extends Error {}

/** The text with the change, and the change as a sentence. Comments, order and form stay. Throws `PromotionError`. */
export function promoteRule(
  text: string,
  rule: string,
  policy: string | undefined,
): { readonly text: string; readonly change: string } {
  const document = parseDocument(text)
  if (document.errors.length > 0) throw new PromotionError(document.errors[0]!.message)
  const found = rulesOf(document.get('policies'), policy).filter((one) => one.get('name') === rule)
  if (found.length === 0)
    throw new PromotionError(`there is no rule ${JSON.stringify(rule)} in the file`)
  if (found.length > 1)
    throw new PromotionError(
      `several policies have a rule ${JSON.stringify(rule)}; name the policy`,
    )
  const [node] = found
  const part = (name: string): RulePart | undefined =>
    node!.items.find(({ key }) => String(key) === name) as RulePart | undefined
  const [enforced, candidate, shadow] = ['limit', 'candidate', 'shadow'].map(part)
  if (candidate !== undefined && enforced !== undefined) {
    const change = `${rule}: ${shown(enforced)} → ${shown(candidate)}`
    const kept = inPlace(text, node!, candidate, enforced)
    if (kept !== undefined) return { text: kept, change }
    enforced.value = candidate.value
    node!.delete('candidate')
    return { text: document.toString({ lineWidth: 0 }), change }
  }
  if (shadow !== undefined && node!.get('shadow') === true) {
    const kept = inPlace(text, node!, shadow)
    if (kept === undefined) node!.delete('shadow')
    return {
      text: kept ?? document.toString({ lineWidth: 0 }),
      change: `${rule}: counted only → enforced`,
    }
  }
  throw new PromotionError(`rule ${JSON.stringify(rule)} has no candidate, and is no shadow rule`)
}

type RulePart = Pair<Node, Node>

/** In words; as it stands in the file where it is no limit. */
function shown({ value }: RulePart): string {
  const input = value?.toJSON() as LimitInput
  try {
    return limitText(limit(input))
  } catch {
    return JSON.stringify(input)
  }
}

/**
 * The text without the line of one part of a rule, and with its value in the place of another's: nothing else changes.
 * Undefined where a part is not on a line of its own; then the whole document is written again.
 */
function inPlace(
  text: string,
  rule: YAMLMap,
  removed: RulePart,
  replaced?: RulePart,
): string | undefined {
  if (rule.flow === true) return undefined
  const [old, other] = [removed, replaced].map((part) => part && lineOf(text, part))
  if (old === undefined || (replaced !== undefined && other === undefined)) return undefined
  const edits = [{ start: old.start, end: old.end + 1, text: '' }]
  if (other !== undefined) {
    const comment = text.slice(other.valueEnd, other.end)
    const own = text.slice(old.valueEnd, old.end)
    // What was said of the limit before stays, after what is said of the new one.
    const more = comment.trim() === '' ? '' : `;${comment.replace(/^\s*#/, '')}`
    const comments = own.trim() === '' ? comment : own + more
    const value = text.slice(old.value, old.valueEnd)
    edits.push({ start: other.value, end: other.end, text: value + comments })
  }
  // From the end, so that places before it stay where they are.
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((all, edit) => all.slice(0, edit.start) + edit.text + all.slice(edit.end), text)
}

/** Where the line of a part starts, where its value starts and ends, and where the line ends; undefined when it shares lines. */
function lineOf(
  text: string,
  { key, value }: RulePart,
): Readonly<Record<'start' | 'value' | 'valueEnd' | 'end', number>> | undefined {
  if (!key.range || !value?.range) return undefined
  const start = text.lastIndexOf('\n', key.range[0]) + 1
  const next = text.indexOf('\n', value.range[1] - 1)
  const end = next < 0 ? text.length : next
  const isAlone = text.slice(start, key.range[0]).trim() === ''
  return isAlone && !text.slice(start, end).includes('\n')
    ? { start, value: value.range[0], valueEnd: value.range[1], end }
    : undefined
}

function rulesOf(policies: unknown, wanted: string | undefined): readonly YAMLMap[] {
  if (!isSeq(policies)) throw new PromotionError('the file has no list of policies')
  return policies.items
    .filter((policy) => isMap(policy))
    .filter((policy) => wanted === undefined || policy.get('name') === wanted)
    .flatMap((policy) => {
      const rules = policy.get('rules')
      return isSeq(rules) ? rules.items.filter((rule) => isMap(rule)) : []
    })
}
