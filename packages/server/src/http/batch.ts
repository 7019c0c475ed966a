// Answers batches: their entries are bounded by the rules that they have checked, and in slices that let others in between.
import { isPromise, type MaybePromise } from 'sluice'
import { reservationPolicy } from 'sluice/budgets'
import { shown } from '../config/problem.ts'
import type { Limiters } from '../limiters/limiters.ts'
import { problemOfError, RequestError, type Problem } from '../net/problem.ts'
import { briefDecisionJson, decisionJson } from './decision-json.ts'
import { wrongField, type Operation } from './operations.ts'

/** Entries in one batch. */
const MAX_ENTRIES = 1000
/** Rules that a batch may have checked in all: its entries times the rules of their policies. */
const MAX_RULE_CHECKS = 20_000
/** Rules that are checked in one turn of the event loop: about three milliseconds on the memory store. */
const SLICE_RULE_CHECKS = 256

/** A batch whose entries have not been looked at yet. */
interface Batch {
  readonly entries: readonly unknown[]
  /** Whether each decision comes with the outcome of every rule. */
  readonly outcomes: boolean
}

/**
 * Answers a body that has `checks` with the JSON of the reply; each entry has its own decision or its own problem. Throws,
 * before anything is counted, if the batch as a whole is invalid.
 */
export function answerBatch(
  operation: Operation,
  limiters: Limiters,
  body: object,
  onError: (error: unknown) => void,
): MaybePromise<string> {
  const { entries, outcomes } = batchOf(body)
  const write = outcomes ? decisionJson : briefDecisionJson
  const failed = (error: unknown): string => {
    onError(error)
    return `{"error":${JSON.stringify(problemOfError(error) satisfies Problem)}}`
  }
  return answerEntries(entries, limiters, (entry) => {
    try {
      const one = operation(limiters, entry, write)
      return isPromise(one) ? one.catch(failed) : one
    } catch (error) {
      return failed(error)
    }
  })
}

function batchOf(body: object): Batch {
  const { checks, outcomes = false, ...others } = body as Readonly<Record<string, unknown>>
  const [other] = Object.keys(others)
  if (other !== undefined) throw wrongField(other, 'not a known field beside checks and outcomes')
  if (typeof outcomes !== 'boolean')
    throw wrongField('outcomes', `${shown(outcomes)}; accepted: true or false`)
  if (!Array.isArray(checks)) throw wrongField('checks', `${shown(checks)}; accepted: a list`)
  if (checks.length > MAX_ENTRIES)
    throw wrongField('checks', `${checks.length} entries long; accepted: at most ${MAX_ENTRIES}`)
  return { entries: checks, outcomes }
}

/**
 * The JSON of all answers, in the order of the entries. `answer` must not throw or reject. A small batch on the memory
 * store is answered at once. Of a large one, each slice is answered before the next is begun, so that neither the event
 * loop nor the store has the whole batch before it.
 */
function answerEntries(
  entries: readonly unknown[],
  limiters: Limiters,
  answer: (entry: unknown) => MaybePromise<string>,
): MaybePromise<string> {
  const work = workOf(entries, limiters)
  return work.length <= 1
    ? joined(answerSlice(entries, 0, entries.length, answer))
    : answerSlices(entries, work, answer)
}

async function answerSlices(
  entries: readonly unknown[],
  ends: readonly number[],
  answer: (entry: unknown) => MaybePromise<string>,
): Promise<string> {
  const answers: string[] = []
  let start = 0
  for (const end of ends) {
    if (start > 0) await nextTurn()
    for (const one of await Promise.all(
      answerSlice(entries, start, end, answer).map(async (it) => it),
    ))
      answers.push(one)
    start = end
  }
  return batchJson(answers)
}

function answerSlice(
  entries: readonly unknown[],
  start: number,
  end: number,
  answer: (entry: unknown) => MaybePromise<string>,
): MaybePromise<string>[] {
  // Of the right length from the start.
  const answers = new Array<MaybePromise<string>>(end - start)
  for (let i = start; i < end; i++) answers[i - start] = answer(entries[i])
  return answers
}

/** Where each slice ends. Throws, before anything is counted, when the batch is too much work. */
function workOf(entries: readonly unknown[], limiters: Limiters): readonly number[] {
  const rulesOf = ruleCounts(limiters)
  const ends: number[] = []
  let total = 0
  let slice = 0
  let last: unknown
  let rules = 1
  for (let i = 0; i < entries.length; i++) {
    const policy = policyOf(entries[i]) ?? limiters.only
    // Consecutive entries usually name the same policy.
    if (policy !== last) {
      rules = Math.max(1, rulesOf.get(policy) ?? 1)
      last = policy
    }
    total += rules
    if (slice > 0 && slice + rules > SLICE_RULE_CHECKS) {
      ends.push(i)
      slice = 0
    }
    slice += rules
  }
  if (total > MAX_RULE_CHECKS)
    throw new RequestError(
      400,
      'invalid-body',
      `checks has ${total} rules to check (entries times rules); accepted: at most ${MAX_RULE_CHECKS}`,
      'checks',
    )
  ends.push(entries.length)
  return ends
}

/** The policy that an entry names, or the one of its reservation; undefined when it has neither. */
function policyOf(entry: unknown): unknown {
  const { policy, id } = (entry ?? {}) as { readonly policy?: unknown; readonly id?: unknown }
  if (policy !== undefined || id === undefined) return policy
  try {
    return reservationPolicy(id)
  } catch {
    // Not an id; the answer to this entry reports it.
    return undefined
  }
}

const counted = new WeakMap<Limiters, ReadonlyMap<unknown, number>>()

/** How many rules each policy has. */
function ruleCounts(limiters: Limiters): ReadonlyMap<unknown, number> {
  let counts = counted.get(limiters)
  if (counts === undefined) {
    counts = new Map(limiters.policies.map(({ name, rules }) => [name, rules.length]))
    counted.set(limiters, counts)
  }
  return counts
}

function joined(answers: readonly MaybePromise<string>[]): MaybePromise<string> {
  return answers.every((one) => typeof one === 'string')
    ? batchJson(answers)
    : Promise.all(answers.map(async (one) => one)).then(batchJson)
}

/** Joined by hand: `join` would copy the texts, which are copied again when they are sent. */
function batchJson(answers: readonly string[]): string {
  let all = '{"decisions":['
  for (let i = 0; i < answers.length; i++) all += i === 0 ? answers[i]! : `,${answers[i]!}`
  return `${all}]}`
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
