// Lists keys: page by page, with bounded work for each.
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { RequestError } from '../../net/problem.ts'
import type { KeySource, Look } from '../../store/key-source.ts'
import type { KeyEntry, ListedPlace } from './listed-places.ts'

/** Keys that are read for one page, at most; the last batch may exceed it a little. */
const MAX_KEYS_READ = 5000

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

/** A page of keys; a cursor that is not null leads to the next one. */
export interface KeyPage {
  readonly keys: readonly KeyEntry[]
  readonly looked: number
  readonly cursor: string | null
}

/** One page of keys. Throws a {@link RequestError} for an unknown policy, rule or cursor. */
export async function searchKeys(
  query: KeyQuery,
  all: readonly ListedPlace[],
  source: KeySource,
): Promise<KeyPage> {
  const places = placesFor(query, all)
  const queryDigest = queryDigestOf(places, query)
  let at: string | undefined =
    query.cursor === undefined ? source.start : cursorIn(query, queryDigest)
  let looked = 0
  const seen = new Set<string>()
  const keys: KeyEntry[] = []
  while (at !== undefined && keys.length < query.limit && looked < MAX_KEYS_READ) {
    const look: Look<ListedPlace> | undefined = await source.look(places, at, query.text)
    if (look === undefined) throw badCursor()
    // Places without keys cost something as well.
    looked += Math.max(look.looked, 1)
    at = look.next
    const found = look.found.filter(({ place, name }) => {
      const id = `${place.space} ${name}`
      return name.includes(query.text) && !seen.has(id) && seen.add(id)
    })
    const entries = await Promise.all(found.map((one) => one.place.entryOf(one)))
    // Lets requests run in between: a page is read in many short steps.
    await setImmediate()
    for (const entry of entries) if (entry !== undefined && isWanted(entry, query)) keys.push(entry)
  }
  return { keys, looked, cursor: at === undefined ? null : `${queryDigest}.${at}` }
}

/** Several rules may count in one place. */
function isWanted({ rule, allowed }: KeyEntry, query: KeyQuery): boolean {
  if (query.rule !== undefined && rule !== query.rule) return false
  return !query.over || allowed === false
}

function placesFor(
  { policy, rule }: KeyQuery,
  all: readonly ListedPlace[],
): readonly ListedPlace[] {
  const ofPolicy = all.filter((place) => policy === undefined || place.policy === policy)
  if (ofPolicy.length === 0)
    throw new RequestError(404, 'unknown-policy', 'there is no policy of that name', 'policy')
  const places = ofPolicy.filter(({ rules }) => rule === undefined || rules.includes(rule))
  if (places.length === 0)
    throw new RequestError(404, 'unknown-rule', 'there is no rule of that name', 'rule')
  return places
}

/** A digest of the query and its places: a cursor is valid only for the same ones. */
function queryDigestOf(
  places: readonly ListedPlace[],
  { rule = '', text, over }: KeyQuery,
): string {
  const parts = [rule, text, over, ...places.map(({ space }) => space)]
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
