// Reads the requests of operators, field by field.
import { z } from 'zod'
import type { Attributes, Condition, LimitOrNone, Millis } from 'sluice'
import { millis } from '../config/shape/values.ts'
import { shown } from '../config/problem.ts'
import { RequestError } from '../net/problem.ts'

const MONTH: Millis = 30 * 86_400_000
const NAME = 'the name of a policy or a rule'
const NOTE = 'at most 200 characters'
const ATTRIBUTES = 'an object of texts such as {"user":"42"}, with one member or more'

const name = z.string({ error: NAME }).max(200, { error: NAME })
const note = z.string({ error: NOTE }).max(200, { error: NOTE }).default('')
const value = z.union([z.string(), z.number(), z.boolean()], { error: ATTRIBUTES })
const attributes = z.record(z.string(), value, { error: ATTRIBUTES })
const units = z
  .int({ error: 'a whole number of units, 1 or more' })
  .min(1, { error: 'a whole number of units, 1 or more' })
const lasting = (most: Millis) => {
  const error = "a duration from '1s' to '30d'"
  return millis.refine((value) => value >= 1000 && value <= most, { error })
}

/** Whom an operation is about: `key` is short for the attribute of that name. */
const subject = {
  policy: name.optional(),
  attributes: attributes.optional(),
  key: z.string({ error: 'a string' }).max(65_536).optional(),
}

/** Whom an operation is about; the policy need not be named when there is only one. */
export interface Subject {
  readonly policy?: string
  readonly attributes?: Attributes
  readonly key?: string
}

/** The body of each POST operation, by the last part of its path. Durations are in milliseconds. */
export interface Requests {
  readonly read: Subject & { readonly cost?: number }
  readonly reset: Subject & { readonly rule?: string }
  readonly grant: Subject & { readonly rule?: string; readonly units: number }
  readonly block: Subject & { readonly for: Millis; readonly note: string }
  readonly unblock: Subject
  readonly 'set-override': OverrideName & {
    /** For the library to judge. */
    readonly limit: LimitOrNone
    readonly for?: Millis
    readonly note: string
  }
  readonly 'remove-override': OverrideName
}

interface OverrideName {
  readonly policy?: string
  readonly rule: string
  readonly when: Condition
}

/** The name of an operation by POST. */
export type ChangeName = keyof Requests

const shapes: { readonly [N in ChangeName]: z.ZodObject } = {
  read: z.strictObject({ ...subject, cost: units.optional() }),
  reset: z.strictObject({ ...subject, rule: name.optional() }),
  grant: z.strictObject({ ...subject, rule: name.optional(), units }),
  block: z.strictObject({ ...subject, for: lasting(MONTH), note }),
  unblock: z.strictObject(subject),
  'set-override': z.strictObject({
    policy: name.optional(),
    rule: name,
    when: z.record(z.string(), z.unknown(), { error: 'a condition such as {"user":"42"}' }),
    limit: z.union([z.string(), z.looseObject({})], { error: "a limit such as '100/min'" }),
    for: lasting(MONTH).optional(),
    note,
  }),
  'remove-override': z.strictObject({
    policy: name.optional(),
    rule: name,
    when: z.record(z.string(), z.unknown(), { error: 'a condition such as {"user":"42"}' }),
  }),
}

/** Every operation by POST. */
export const CHANGES: readonly ChangeName[] = Object.keys(shapes) as ChangeName[]

/** The request, or a {@link RequestError} that names the first field that is wrong. */
export function readRequest<N extends ChangeName>(operation: N, body: unknown): Requests[N] {
  const { success, data, error } = shapes[operation].safeParse(body)
  if (success) return data as unknown as Requests[N]
  const issue = error.issues[0]!
  if (issue.code === 'unrecognized_keys') {
    const field = issue.keys[0]!.slice(0, 60)
    const accepted = Object.keys(shapes[operation].shape).join(', ')
    throw wrong(field, `not a known field; accepted: ${accepted}`)
  }
  const field = issue.path.map(String).join('.').slice(0, 60)
  if (field === '') throw wrong('the body', 'not an object; accepted: a JSON object')
  const found = issue.path.reduce<unknown>(memberOf, body)
  throw wrong(
    field,
    `${found === undefined ? 'missing' : shown(found)}; accepted: ${issue.message}`,
  )
}

/** The attributes that a request is about; there must be one at least. */
export function subjectOf({ attributes, key }: Subject): Readonly<Record<string, string>> {
  if (key !== undefined && attributes !== undefined)
    throw wrong('key', 'given beside attributes; accepted: one of the two')
  const entries = Object.entries(key === undefined ? (attributes ?? {}) : { key })
  if (entries.length === 0) throw wrong('attributes', `missing; accepted: ${ATTRIBUTES}`)
  const empty = entries.find(([, value]) => value === '')
  if (empty !== undefined) throw wrong(`attributes.${empty[0].slice(0, 60)}`, 'empty')
  for (const [name, value] of entries) {
    const problem = addressProblem(name, String(value))
    if (problem !== undefined) throw wrong(`attributes.${name}`, problem)
  }
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}

/** Why no request has such an `ip` or `network`. */
function addressProblem(name: string, text: string): string | undefined {
  if (name === 'ip' && text.includes('/'))
    return 'a network, and no request has one; accepted: one address, which of IPv6 stands for the network that proxies count it by'
  if (name === 'network' && text.includes('/'))
    return 'a network with its bits, and no request has them; accepted: its first address, such as 192.0.2.0'
  if (name === 'ip' && /^[\d.]+:\d+$|^\[/.test(text))
    return 'an address with a port or brackets, and no request has them; accepted: the address alone'
  return undefined
}

/** A request with one field that is wrong. */
export function wrong(field: string, is: string): RequestError {
  return new RequestError(400, 'invalid-body', `${field} is ${is}`, field)
}

function memberOf(value: unknown, step: PropertyKey): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
  return (value as Record<PropertyKey, unknown>)[step]
}
