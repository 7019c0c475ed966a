// `sluice promote`: puts the limit on trial in the place of the rule's own, or enforces a shadow rule, in the file.
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { isMap, isSeq, parseDocument, type Node, type Pair, type YAMLMap } from 'yaml'
import { reviewText } from '@sluice/server'
import { Mistake } from '../terminal/mistake.ts'
import { print, type Streams } from '../terminal/streams.ts'

/** The options of the command. */
export interface PromoteFlags {
  readonly policy?: string
  readonly dryRun?: boolean
}

/** Changes the file, or prints it with `--dry-run`. Comments, order and form stay. */
export async function promote(
  file: string,
  rule: string,
  flags: PromoteFlags,
  { stdout }: Streams,
): Promise<number> {
  const { text, change } = promoted(readFileSync(file, 'utf8'), rule, flags.policy)
  const { problems } = reviewText(text, file)
  if (problems.length > 0)
    throw new Mistake(`the changed file would have mistakes: ${problems[0]!.message}`)
  if (flags.dryRun === true) stdout.write(text)
  else {
    // Written beside it and renamed, so that a service that watches the file never reads half of it.
    const part = `${file}.promote`
    writeFileSync(part, text, { mode: statSync(file).mode })
    renameSync(part, file)
    print(stdout, change)
  }
  return 0
}

/** The text with the change, and the change as a sentence. */
export function promoted(
  text: string,
  rule: string,
  policy: string | undefined,
): { readonly text: string; readonly change: string } {
  const document = parseDocument(text)
  if (document.errors.length > 0) throw new Mistake(document.errors[0]!.message)
  const found = rulesOf(document.get('policies'), policy).filter((one) => one.get('name') === rule)
  if (found.length === 0) throw new Mistake(`there is no rule ${JSON.stringify(rule)} in the file`)
  if (found.length > 1)
    throw new Mistake(`several policies have a rule ${JSON.stringify(rule)}; name one by --policy`)
  const [node] = found
  const part = (name: string): RulePart | undefined =>
    node!.items.find(({ key }) => String(key) === name) as RulePart | undefined
  const [limit, candidate, shadow] = ['limit', 'candidate', 'shadow'].map(part)
  if (candidate !== undefined && limit !== undefined) {
    const change = `${rule}: ${shown(limit)} → ${shown(candidate)}`
    const kept = inPlace(text, node!, candidate, limit)
    if (kept !== undefined) return { text: kept, change }
    limit.value = candidate.value
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
  throw new Mistake(`rule ${JSON.stringify(rule)} has no candidate, and is no shadow rule`)
}

type RulePart = Pair<Node, Node>

function shown({ value }: RulePart): string {
  return JSON.stringify(value)
}

/**
 * The text without the line of one part of a rule, and with its value in the place of another's: nothing else changes.
 * Undefined where a part is not on a line of its own; then the whole document is written anew.
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
  if (other !== undefined)
    edits.push({ start: other.value, end: other.end, text: text.slice(old.value, old.end) })
  // From the end, so that places before it stay where they are.
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((all, edit) => all.slice(0, edit.start) + edit.text + all.slice(edit.end), text)
}

/** Where the line of a part starts, where its value, and where the line ends; undefined when it shares lines. */
function lineOf(
  text: string,
  { key, value }: RulePart,
): { readonly start: number; readonly value: number; readonly end: number } | undefined {
  if (!key.range || !value?.range) return undefined
  const start = text.lastIndexOf('\n', key.range[0]) + 1
  const next = text.indexOf('\n', value.range[1] - 1)
  const end = next < 0 ? text.length : next
  const isAlone = text.slice(start, key.range[0]).trim() === ''
  return isAlone && !text.slice(start, end).includes('\n')
    ? { start, value: value.range[0], end }
    : undefined
}

function rulesOf(policies: unknown, wanted: string | undefined): readonly YAMLMap[] {
  if (!isSeq(policies)) throw new Mistake('the file has no list of policies')
  return policies.items
    .filter((policy) => isMap(policy))
    .filter((policy) => wanted === undefined || policy.get('name') === wanted)
    .flatMap((policy) => {
      const rules = policy.get('rules')
      return isSeq(rules) ? rules.items.filter((rule) => isMap(rule)) : []
    })
}
