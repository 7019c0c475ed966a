// Lists keys: page by page, with bounded work for each.
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { placesOf, type Attributes, type Limit, type Policy } from 'sluice'
import { RequestError } from '../../net/problem.ts'
import type { Limiters } from '../../limiters/limiters.ts'
import { attributesOfKey, type Inspectors } from './inspectors.ts'
import type { FoundKey, KeySource, PolicyPlace } from '../../store/key-source.ts'

/** Keys that one page looks at, at most; a look may go a little beyond. */
const MOST_LOOKED = 5000

/** Which keys are wanted. */
export interface KeyQuery {
  readonly policy?: string | undefined
  readonly rule?: string | undefined
  /** What the key must contain. */
  readonly text: string
  /** Whether only those are wanted that would be refused now. */
  readonly over: boolean
  /** Keys after which a page ends; a look may go a little beyond. */
  readonly limit: number
  readonly cursor?: string | undefined
}

/** A key and what it holds. */
interface KeyEntry {
  readonly policy: string
  readonly rule: string
  readonly key: string
  /** Null when the key holds only hashes of them. */
  readonly attributes: Attributes | null
  readonly limit: Limit | null
  readonly allowed: boolean | null
  readonly remaining: number | null
  readonly retryAfter: number | null
  readonly resetAfter: number | null
}

/** A page of keys; a cursor that is not null leads to the next one. */
export interface KeyPage {
  readonly keys: readonly KeyEntry[]
  readonly looked: number
  readonly cursor: string | null
}

/** One page. Throws a {@link RequestError} for a policy, rule or cursor that there is none of. */
export async function searchKeys(
  query: KeyQuery,
  limiters: Limiters,
  source: KeySource,
  inspectors: Inspectors,
): Promise<KeyPage> {
  const policies = policiesFor(query, limiters)
  const places = policies.flatMap((policy) => placesFor(query, policy))
  if (places.length === 0)
    throw new RequestError(404, 'unknown-rule', 'there is no rule of that name', 'rule')
  const mark = markOf(places, query)
  let at: string | undefined = query.cursor === undefined ? source.start : cursorIn(query, mark)
  let looked = 0
  const seen = new Set<string>()
  const keys: KeyEntry[] = []
  while (at !== undefined && keys.length < query.limit && looked < MOST_LOOKED) {
    const look = await source.look(places, at, query.text)
    if (look === undefined) throw badCursor()
    // Places without keys cost something as well.
    looked += Math.max(look.looked, 1)
    at = look.next
    const found = look.found.filter(({ place, name }) => {
      const id = `${place.space} ${name}`
      return name.includes(query.text) && !seen.has(id) && seen.add(id)
    })
    const entries = await Promise.all(found.map((one) => entryOf(one, policies, inspectors)))
    // Requests go first: a page is many short looks, not one long one.
    await setImmediate()
    for (const entry of entries)
      if (entry !== undefined && (!query.over || entry.allowed === false)) keys.push(entry)
  }
  return { keys, looked, cursor: at === undefined ? null : `${mark}.${at}` }
}

async function entryOf(
  found: FoundKey,
  policies: readonly Policy[],
  inspectors: Inspectors,
): Promise<KeyEntry | undefined> {
  const { place, name } = found
  const policy = policies.find((one) => one.name === place.policy)!
  const holding = await inspectors.look(policy, found)
  // As good as new, and only waiting to be swept away.
  if (holding?.resetAfter === 0) return undefined
  return {
    policy: place.policy,
    rule: place.rule.name,
    key: name,
    attributes: attributesOfKey(found),
    limit: holding?.limit ?? null,
    allowed: holding?.allowed ?? null,
    remaining: holding?.remaining ?? null,
    retryAfter: holding?.retryAfter ?? null,
    resetAfter: holding?.resetAfter ?? null,
  }
}

function policiesFor({ policy }: KeyQuery, limiters: Limiters): readonly Policy[] {
  const policies = limiters.policies.filter(({ name }) => policy === undefined || name === policy)
  if (policies.length === 0)
    throw new RequestError(404, 'unknown-policy', 'there is no policy of that name', 'policy')
  return policies
}

function placesFor({ rule }: KeyQuery, policy: Policy): readonly PolicyPlace[] {
  const places = placesOf(policy).filter((place) => rule === undefined || place.rule.name === rule)
  return places.map((place) => ({ ...place, policy: policy.name }))
}

/** What a cursor is good for: the same question about the same places. */
function markOf(places: readonly PolicyPlace[], { text, over }: KeyQuery): string {
  const parts = [text, over, ...places.map(({ space }) => space)]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 8)
}

function cursorIn({ cursor = '' }: KeyQuery, mark: string): string {
  if (!cursor.startsWith(`${mark}.`)) throw badCursor()
  return cursor.slice(mark.length + 1)
}

function badCursor(): RequestError {
  const detail = 'cursor is not of this question, or the policies have changed; begin without one'
  return new RequestError(400, 'invalid-cursor', detail, 'cursor')
}
