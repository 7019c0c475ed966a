// Why a key was refused: what operators have set first, then the journal, then what holds now.
import type { Attributes, Millis } from 'sluice'
import { isBlockOf, type Block } from '../../controls/control.ts'
import { RequestError } from '../../net/problem.ts'
import type { Fleet } from '../../observe/fleet.ts'
import type { JournalEntry } from '../../observe/journal.ts'
import { hasAttributes, type NamedKey } from '../../observe/keys.ts'
import { readDecisionId } from '../../observe/observer.ts'
import { blockShown } from '../shown.ts'
import { whySentences, type NowAnswer } from './why-sentences.ts'

/** The query: one refusal by its id, or the refusals of some attributes. */
export interface WhyQuery {
  readonly id?: string | undefined
  readonly attributes: NamedKey
  readonly policy?: string | undefined
  readonly most: number
}

/** What answers are made from. */
export interface WhyOptions {
  readonly fleet: Fleet
  readonly blocks: () => readonly Block[]
  /** What every rule of a policy answers to these attributes now; undefined for a name that is no policy. */
  readonly explainNow: (policy: string, attributes: Attributes) => Promise<NowAnswer | undefined>
  /** The policies to ask when none is named. */
  readonly policies: () => readonly string[]
}

/** Policies that are queried about one key, at most. */
const MAX_POLICIES = 10

/** The answer as data, with the same in sentences. */
export async function why(query: WhyQuery, options: WhyOptions): Promise<object> {
  const { fleet } = options
  const id = query.id === undefined ? undefined : readDecisionId(query.id)
  if (query.id !== undefined && id === undefined) {
    const detail = 'id is not a decision id; accepted: the id of a refusal, or attribute=user=42'
    throw new RequestError(400, 'invalid-parameter', detail, 'id')
  }
  const { parts, complete } = await fleet.entries(id?.key)
  const refusals = parts
    .filter(({ policy }) => query.policy === undefined || policy === query.policy)
    .filter(({ attributes }) => id !== undefined || hasAttributes(attributes, query.attributes))
    .slice(0, query.most)
  const attributes = id === undefined ? query.attributes : (refusals[0]?.attributes ?? {})
  const policy = query.policy ?? (id === undefined ? undefined : refusals[0]?.policy)
  const now = await explainAll(attributes, policy, options)
  const blocks = options
    .blocks()
    .filter((one) => isBlockOf(one, attributes))
    .filter((one) => policy === undefined || one.policy === null || one.policy === policy)
  const instant = Date.now()
  return {
    attributes,
    refusedAt: id === undefined || query.id?.length === 10 ? null : iso(id.at),
    block: blocks[0] === undefined ? null : blockShown(blocks[0]),
    blocks: blocks.map(blockShown),
    refusals: refusals.map((entry) => shownEntry(entry, instant)),
    now,
    complete,
    sentences: whySentences({ id: query.id, attributes, blocks, refusals, now, complete, instant }),
  }
}

async function explainAll(
  attributes: NamedKey,
  policy: string | undefined,
  { explainNow, policies }: WhyOptions,
): Promise<readonly NowAnswer[]> {
  if (Object.keys(attributes).length === 0) return []
  const names = policy === undefined ? policies().slice(0, MAX_POLICIES) : [policy]
  const answers = await Promise.all(names.map((name) => explainNow(name, attributes)))
  return answers.filter((answer) => answer !== undefined)
}

function shownEntry(entry: JournalEntry, now: Millis): object {
  const { first, last, retryAfter, limit, source, cause } = entry
  return {
    ...entry,
    limit,
    first: iso(first),
    last: iso(last),
    cause: cause ?? null,
    mode: modeOf(entry),
    clock: source === 'store' || source === 'cache' || source === 'lease' ? 'store' : 'process',
    freeAt: retryAfter === null ? null : iso(last + retryAfter),
    freeIn: retryAfter === null ? null : Math.max(0, last + retryAfter - now),
  }
}

/** How the last refusal was decided. */
function modeOf({ source, cause }: JournalEntry): 'strict' | 'lease' | 'degraded' | 'blocked' {
  if (source === null) return 'blocked'
  if (cause !== undefined) return 'degraded'
  return source === 'lease' ? 'lease' : 'strict'
}

function iso(millis: Millis): string {
  return new Date(millis).toISOString()
}
