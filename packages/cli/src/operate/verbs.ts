// The verbs of operators: each is one request to the admin API, and its answer in words or as JSON.
import { visible } from '@sluice/server'
import { fitted } from '../terminal/fitted.ts'
import { Mistake } from '../terminal/mistake.ts'
import { print, type Streams } from '../terminal/streams.ts'
import { count } from '../terminal/words.ts'
import { askAdmin, attributesFrom, type AdminFlags } from './admin-client.ts'

/** The flags of an operation. */
export interface VerbFlags extends AdminFlags {
  readonly policy?: string
  readonly rule?: string
  readonly for?: string
  readonly note?: string
  readonly cost?: string
  readonly limit?: string
  readonly remove?: boolean
}

type Attributes = Readonly<Record<string, string>>
interface Listed {
  readonly attributes: Attributes
  readonly count: number
  readonly error: number
  /** How far a sampled count may be off. */
  readonly spread: number
}

/** The id of a refusal, or what the ids of one key begin with. */
const DECISION_ID = /^[\w-]{10}(?:[\w-]{13})?$/

/** Prints the answer as JSON, or as the lines that are made of it. */
function show<T>(
  { stdout }: Streams,
  { json }: AdminFlags,
  answer: T,
  lines: (answer: T) => readonly string[],
): number {
  if (json === true) print(stdout, JSON.stringify(answer, undefined, 2))
  else for (const line of lines(answer)) print(stdout, line)
  return 0
}

function subject(pairs: readonly string[], { policy, rule }: VerbFlags): object {
  if (pairs.length === 0) throw new Mistake('no attribute is given; accepted: user=42')
  return {
    attributes: attributesFrom(pairs),
    ...(policy !== undefined && { policy }),
    ...(rule !== undefined && { rule }),
  }
}

/** `sluice why user=42`, `sluice why <decision id>`. */
export async function why(asked: readonly string[], flags: VerbFlags, streams: Streams) {
  const query = new URLSearchParams()
  const isId = asked.length === 1 && !asked[0]!.includes('=')
  if (isId && !DECISION_ID.test(asked[0]!))
    throw new Mistake(
      `${JSON.stringify(asked[0])} is neither an attribute nor a decision id; accepted: user=42, or the id of a refusal`,
    )
  if (isId) query.set('id', asked[0]!)
  else {
    if (asked.length === 0)
      throw new Mistake('nothing is asked; accepted: user=42, or a decision id')
    for (const [name, value] of Object.entries(attributesFrom(asked)))
      query.append('attribute', `${name}=${value}`)
  }
  if (flags.policy !== undefined) query.set('policy', flags.policy)
  const answer = await askAdmin<{ sentences: readonly string[] }>(flags, `why?${query.toString()}`)
  return show(streams, flags, answer, ({ sentences }) => sentences)
}

interface TopKeys {
  readonly processes: number
  readonly complete: boolean
  readonly rules: readonly {
    readonly policy: string
    readonly rule: string
    readonly distinct: number
    readonly distinctError: number
    readonly refused: readonly Listed[]
    readonly busiest: readonly Listed[]
    readonly atZero: readonly { readonly attributes: Attributes; readonly seconds: number }[]
  }[]
}

/** `sluice keys`: the keys of each rule that matter now. */
export async function keys(flags: VerbFlags, streams: Streams): Promise<number> {
  const query = new URLSearchParams()
  if (flags.policy !== undefined) query.set('policy', flags.policy)
  if (flags.rule !== undefined) query.set('rule', flags.rule)
  const answer = await askAdmin<TopKeys>(flags, `keys/top?${query.toString()}`)
  return show(streams, flags, answer, topKeyLines)
}

function topKeyLines({ rules, processes, complete }: TopKeys): readonly string[] {
  if (rules.length === 0) return ['No decision in the last two minutes.']
  return [
    `The last one to two minutes, as seen by ${sourceText(processes, complete)}.`,
    ...rules.flatMap(({ policy, rule, distinct, distinctError, refused, busiest, atZero }) => [
      '',
      `${visible(policy)}/${visible(rule)}: ${distinctText(distinct, distinctError)}`,
      ...listed('refused', refused),
      ...listed('busiest', busiest),
      ...atZero.map(({ attributes, seconds }) => {
        const time = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`
        return `  at zero  ${fitted(nameOf(attributes), 40)} for ${time}`
      }),
    ]),
  ]
}

function sourceText(processes: number, isComplete: boolean): string {
  if (!isComplete) return 'one process alone, as Redis did not answer'
  return processes === 1 ? 'one process' : `${processes} processes`
}

function distinctText(distinct: number, error: number): string {
  const keys = `${count(distinct)} ${distinct === 1 ? 'key' : 'keys'}`
  return error === 0 ? keys : `about ${keys} (± ${count(error)})`
}

function listed(kind: string, entries: readonly Listed[]): readonly string[] {
  return entries.slice(0, 5).map(({ attributes, count: times, error, spread }) => {
    const least = Math.max(1, times - error - spread)
    const most = times + spread
    const bound =
      spread > 0
        ? ` (estimated; ${count(least)} to ${count(most)})`
        : error > 0
          ? ` (at least ${count(least)})`
          : ''
    const about = spread > 0 ? 'about ' : ''
    return `  ${kind.padEnd(8)} ${fitted(nameOf(attributes), 40)} ${about}${count(times)}${bound}`
  })
}

function nameOf(attributes: Attributes): string {
  return visible(pairsOf(attributes).join(' '), 100)
}

function pairsOf(attributes: Attributes): readonly string[] {
  return Object.entries(attributes).map(([name, value]) => `${name}=${value}`)
}

interface Read {
  readonly policy: string
  readonly explained: readonly string[]
  readonly decision: { readonly outcomes: readonly { readonly rule: string }[] }
  /** Rules that apply to a part of the requests with these attributes; an operation on one of them names it. */
  readonly conditional: readonly { readonly rule: string }[]
  readonly block: { readonly by: string; readonly until: string; readonly note: string } | null
}

function readLines({ policy, explained, block }: Read): readonly string[] {
  const blocked =
    block === null
      ? []
      : [`BLOCKED by ${visible(block.by)} until ${block.until}: ${visible(block.note)}`]
  return [...blocked, ...explained.map((line) => `${visible(policy)}: ${visible(line, 500)}`)]
}

/** Whether an operation reached a count; a misspelled attribute reaches none. */
function isCounted({ decision, conditional }: Read, { rule }: VerbFlags): boolean {
  if (rule === undefined) return decision.outcomes.length > 0
  return [...decision.outcomes, ...conditional].some((one) => one.rule === rule)
}

/** The result of an operation, and what every rule answers now. `idle` says what was not done if no count was found. */
function changedLines(
  pairs: readonly string[],
  flags: VerbFlags,
  read: Read,
  done: (name: string) => string,
  idle: string,
): readonly string[] {
  const name = nameOf(attributesFrom(pairs))
  const rule = flags.rule === undefined ? 'No rule counts' : `${visible(flags.rule)} does not count`
  const resultLine = isCounted(read, flags) ? done(name) : `${rule} by ${name} alone: ${idle}.`
  return [`${resultLine} Now:`, ...readLines(read)]
}

/** `sluice ask user=42`: what every rule would answer now; nothing is charged. */
export async function ask(pairs: readonly string[], flags: VerbFlags, streams: Streams) {
  const cost = flags.cost === undefined ? {} : { cost: wholeNumber(flags.cost, '--cost') }
  const { rule: _, ...others } = flags
  const answer = await askAdmin<Read>(flags, 'read', { ...subject(pairs, others), ...cost })
  return show(streams, flags, answer, readLines)
}

/** `sluice reset user=42`: forgets what was counted. */
export async function reset(pairs: readonly string[], flags: VerbFlags, streams: Streams) {
  const answer = await askAdmin<Read>(flags, 'reset', subject(pairs, flags))
  return show(streams, flags, answer, (read) =>
    changedLines(
      pairs,
      flags,
      read,
      (name) => `The counts of ${name} are forgotten.`,
      'nothing was forgotten',
    ),
  )
}

/** `sluice grant 50 user=42`: hands units back, up to full. */
export async function grant(
  units: string,
  pairs: readonly string[],
  flags: VerbFlags,
  streams: Streams,
) {
  const body = { ...subject(pairs, flags), units: wholeNumber(units, 'units') }
  return show(streams, flags, await askAdmin<Read>(flags, 'grant', body), (read) =>
    changedLines(
      pairs,
      flags,
      read,
      (name) => `${name} got ${units} units back, up to full.`,
      'nothing was handed back',
    ),
  )
}

/** What the service finds suspicious in a block or an override; services before this one say nothing. */
interface Warned {
  readonly warnings?: readonly string[]
}

function warningLines({ warnings = [] }: Warned): readonly string[] {
  return warnings.map((line) => `warning: ${visible(line, 500)}`)
}

/** A block as the service shows it; null is every policy. */
interface Block {
  readonly policy: string | null
  readonly attributes: Attributes
  readonly until: string
}

interface Blocked extends Warned {
  readonly block: Block
}

/** What a block refuses, until when, and the command that ends it. */
function blockLine({ policy, attributes, until }: Block): string {
  const command = ['sluice', 'unblock', ...pairsOf(attributes)]
  if (policy !== null) command.push('--policy', policy)
  const ending = visible(command.map(shellWord).join(' '), 500)
  return `${nameOf(attributes)} is blocked${inPolicy(policy)} until ${until}. To end it: ${ending}`
}

function inPolicy(policy: string | null): string {
  return policy === null ? '' : ` in policy ${visible(policy)}`
}

/** A word as a shell reads it back. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** `sluice block user=42 --for 1h --note scraping`. */
export async function block(pairs: readonly string[], flags: VerbFlags, streams: Streams) {
  const { for: time = '1h', note } = flags
  const { rule: _, ...others } = flags
  const options = { for: time, ...(note !== undefined && { note }) }
  const answer = await askAdmin<Blocked>(flags, 'block', { ...subject(pairs, others), ...options })
  return show(streams, flags, answer, ({ block: made, ...more }) => [
    blockLine(made),
    ...warningLines(more),
  ])
}

interface Unblocked {
  /** The blocks that still hold for these attributes; services before this one do not say. */
  readonly blocks?: readonly Block[]
}

/** `sluice unblock user=42`. */
export async function unblock(pairs: readonly string[], flags: VerbFlags, streams: Streams) {
  const { rule: _, ...others } = flags
  const answer = await askAdmin<Unblocked>(flags, 'unblock', subject(pairs, others))
  const name = nameOf(attributesFrom(pairs))
  return show(streams, flags, answer, ({ blocks = [] }) =>
    blocks.length === 0
      ? [`${name} is no longer blocked${inPolicy(flags.policy ?? null)}.`]
      : [
          `A block of ${name} has ended. These still hold:`,
          ...blocks.map((one) => `  ${blockLine(one)}`),
        ],
  )
}

/** `sluice override per-user 500/min user=42 --for 7d`, or `--remove` instead of a limit. */
export async function override(
  rule: string,
  args: readonly string[],
  flags: VerbFlags,
  streams: Streams,
) {
  const limit = flags.remove === true ? '' : (args[0] ?? '')
  const pairs = flags.remove === true ? args : args.slice(1)
  const { policy, for: time, note } = flags
  const named = { rule, when: attributesFrom(pairs), ...(policy !== undefined && { policy }) }
  if (pairs.length === 0) throw new Mistake('no attribute is given; accepted: user=42')
  if (flags.remove === true) {
    const answer = await askAdmin<object>(flags, 'remove-override', named)
    return show(streams, flags, answer, () => ['The override is removed.'])
  }
  const options = { ...(time !== undefined && { for: time }), ...(note !== undefined && { note }) }
  const answer = await askAdmin<Warned & { override: { until: string | null } }>(
    flags,
    'set-override',
    {
      ...named,
      ...options,
      limit,
    },
  )
  return show(streams, flags, answer, ({ override: { until }, ...more }) => [
    `${visible(rule)} is ${visible(limit)} for ${nameOf(attributesFrom(pairs))} ${until === null ? 'until it is removed' : `until ${until}`}.`,
    ...warningLines(more),
  ])
}

interface Candidates {
  readonly candidates: readonly {
    readonly sentence: string
    readonly top: readonly Listed[]
    readonly aboveLine: boolean
  }[]
}

/** `sluice shadow`: what limits on trial and shadow rules would change. */
export async function shadow(flags: VerbFlags, streams: Streams): Promise<number> {
  const answer = await askAdmin<Candidates>(flags, 'candidates')
  return show(streams, flags, answer, ({ candidates }) =>
    candidates.length === 0
      ? ['Nothing is on trial: no rule has a candidate, and no rule is a shadow rule.']
      : candidates.flatMap(({ sentence, top }) => [
          visible(sentence, 1000),
          ...listed('newly', top),
        ]),
  )
}

function wholeNumber(text: string, name: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new Mistake(`${name} is ${JSON.stringify(text)}; accepted: a whole number, 1 or more`)
}
