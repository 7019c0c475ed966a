// Answers the entries of a batch: bounded by the rules that they have checked, and in slices that let others in between.
import type { MaybePromise } from 'sluice'
import { reservationPolicy } from 'sluice/budgets'
import type { Limiters } from '../limiters/limiters.ts'
import { RequestError } from '../net/problem.ts'

/** Rules that a batch may have checked in all: its entries times the rules of their policies. */
const MAX_RULE_CHECKS = 20_000
/** Rules that are checked in one turn of the event loop: about three milliseconds on the memory store. */
const SLICE_RULE_CHECKS = 256

/**
 * The JSON of all answers, in the order of the entries. `answer` must not throw or reject. A small batch on the memory
 * store is answered at once. Of a large one, each slice is answered before the next is begun, so that neither the event
 * loop nor the store has the whole batch before it.
 */
export function answerBatch(
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
    // Mostly the same one again.
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
