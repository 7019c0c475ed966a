// The answer to "why was this refused?" in sentences, the most important one first.
import { limitText, waitText, type Millis } from 'sluice'
import type { Block } from '../../controls/control.ts'
import { visible } from '../../log/client-text.ts'
import type { FilledBy } from '../../observe/fill.ts'
import type { JournalEntry } from '../../observe/journal.ts'
import type { NamedKey } from '../../observe/keys.ts'
import { nameText } from '../shown.ts'

/** What the rules of one policy answer now, without charging anything. */
export interface NowAnswer {
  readonly policy: string
  readonly allowed: boolean
  readonly explained: readonly string[]
}

/** What is known. */
interface Known {
  /** What was asked by, if not by attributes. */
  readonly id: string | undefined
  readonly attributes: NamedKey
  /** Those that hold. */
  readonly blocks: readonly Block[]
  readonly refusals: readonly JournalEntry[]
  readonly now: readonly NowAnswer[]
  readonly complete: boolean
  readonly instant: Millis
}

/** One sentence for each fact. Names from requests cannot break a line or steer a terminal. */
export function whySentences(known: Known): readonly string[] {
  const { id, attributes, blocks, refusals, now, complete, instant } = known
  const name = id === undefined ? nameText(attributes) : `the key of the decision ${id}`
  return [
    ...blocks.map((block) => blockText(block, instant)),
    ...(refusals.length === 0 ? [`No refusal of ${name} is known from the last hour.`] : []),
    ...refusals.flatMap((entry) => entryTexts(entry, instant)),
    ...now.flatMap(({ policy, explained }) =>
      explained.map((line) => `Now, policy ${visible(policy)}: ${visible(line, 500)}.`),
    ),
    ...(complete
      ? []
      : ['Only this process was asked: what others have seen could not be read from Redis.']),
  ]
}

function blockText({ attributes, by, until, note, policy }: Block, instant: Millis): string {
  const where = policy === null ? '' : ` in policy ${visible(policy)}`
  const said = note === '' ? 'without a note' : `with the note "${visible(note)}"`
  const end = `${new Date(until).toISOString()} (another ${waitText(Math.max(0, until - instant))})`
  return `BLOCKED: ${nameText(attributes)} is blocked${where} by ${visible(by)} until ${end}, ${said}.`
}

function entryTexts(entry: JournalEntry, instant: Millis): readonly string[] {
  const { policy, rule, limit, attributes, count, first, last, filledBy } = entry
  const about = entry.estimated ? 'about ' : ''
  const times = count === 1 ? 'once' : `${about}${count.toLocaleString('en')} times`
  const span = `first ${agoText(instant - first)} at ${timeText(first)}, last ${agoText(instant - last)} at ${timeText(last)}`
  if (entry.reason === 'blocked') {
    const name = nameText(attributes)
    return [`A block refused ${name} in policy ${visible(policy)} ${times}: ${span}.`]
  }
  const under = limit === null ? '' : ` (${limitText(limit)})`
  return [
    `Rule ${visible(rule)}${under} of policy ${visible(policy)} refused ${nameText(attributes)} ${times}: ${span}.`,
    numbersText(entry, instant),
    sourceText(entry),
    ...(filledBy.length === 0 ? [] : [fillText(filledBy)]),
  ]
}

function numbersText(entry: JournalEntry, instant: Millis): string {
  const { cost, remaining, retryAfter, last, reason } = entry
  if (reason === 'locked-out') return lockoutText(last + (retryAfter ?? 0), instant)
  const asked = `The last refused request asked for ${units(cost)}, and ${remaining} ${remaining === 1 ? 'was' : 'were'} left`
  if (retryAfter === null) return `${asked}; this cost can never be allowed.`
  const freeIn = last + retryAfter - instant
  return freeIn > 0
    ? `${asked}; it is free in ${waitText(freeIn)}, unless other requests take the units.`
    : `${asked}; it has been free since ${timeText(last + retryAfter)}, unless other requests took the units.`
}

function lockoutText(end: Millis, instant: Millis): string {
  return end > instant
    ? `Many refusals have locked it out, for another ${waitText(end - instant)}.`
    : `Many refusals had locked it out, until ${timeText(end)}.`
}

function sourceText({ source, cause, sources }: JournalEntry): string {
  const all = Object.entries(sources).map(
    ([name, count]) => `${name} ${count.toLocaleString('en')}`,
  )
  const others = all.length > 1 ? ` All refusals by what decided: ${all.join(', ')}.` : ''
  return `The last one was decided ${deciderText(source, cause)}.${others}`
}

function deciderText(source: JournalEntry['source'], cause: JournalEntry['cause']): string {
  if (cause !== undefined)
    return `without the store (${cause}) by ${source}, by the clock of the process`
  if (source === 'lease') return "from units leased from the store, by the store's clock"
  if (source === 'cache')
    return "by a refusal of the store that was remembered, by the store's clock"
  return source === 'store'
    ? "strictly by the store, by the store's clock"
    : 'in the memory of the process, by its own clock'
}

function fillText(filledBy: readonly FilledBy[]): string {
  const total = filledBy.reduce((sum, { units }) => sum + units, 0)
  const kinds = filledBy.map(({ attributes, cost, units: taken, spread }) => {
    const share = total === 0 ? 0 : Math.round((100 * taken) / total)
    const each = cost === 1 ? '' : ` at ${units(cost)} each`
    return `${nameText(attributes)}${each} took ${spread > 0 ? 'about ' : ''}${units(taken)} (${share} %)`
  })
  return `What filled it in the last two windows, as far as it was noted: ${kinds.join('; ')}.`
}

function units(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'unit' : 'units'}`
}

function timeText(instant: Millis): string {
  return `${new Date(instant).toISOString().slice(0, 19)}Z`
}

function agoText(millis: Millis): string {
  return millis < 1000 ? 'just now' : `${waitText(millis)} ago`
}
