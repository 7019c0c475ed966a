// Reads the fields of a rule about units out: budgets and slots.
import { algorithmOf } from '../algorithms/table.ts'
import type { Limit } from '../limit/limit.ts'
import type { Millis } from '../time/clock.ts'
import { DURATION_FORMS, tryDuration } from '../time/duration.ts'
import { TOKEN_KINDS } from './fields.ts'
import type { Rule, RuleInCode, TokenWeights } from './policy.ts'
import { at, addProblem, readFields, addWrongValue, type Problems } from './reading.ts'

/** The longest hold: a day. */
const MAX_HOLD: Millis = 86_400_000
/** How long units are out where the rule does not say it. */
const DEFAULT_HOLD: Millis = 60_000
/** The most slots of a rule. */
const MAX_CONCURRENCY = 100_000

/** The fields of which any makes a rule a budget or gives it slots, with or without `hold`. */
const IMPLY_HOLD = ['debt', 'holdShare', 'weights', 'concurrency'] as const

/** The fields that mean nothing on a rule with slots. */
const NOT_BESIDE_SLOTS = [
  'tiers',
  'overrides',
  'candidate',
  'debt',
  'holdShare',
  'weights',
  'cost',
] as const

/** The fields of a rule about units that are out, each checked. */
export type HoldFields = Pick<Rule, 'debt' | 'holdShare' | 'weights' | 'concurrency'> & {
  readonly hold?: Millis
}

/** Reads the fields; mistakes are noted, and what is wrong is left out. */
export function readHoldFields(
  problems: Problems,
  path: string,
  fields: ReadonlyMap<string, unknown>,
): HoldFields {
  const read: { -readonly [K in keyof HoldFields]: HoldFields[K] } = {}
  const hold = fields.get('hold')
  const isImplied = IMPLY_HOLD.some((name) => fields.get(name) !== undefined)
  if (hold === true || (hold === undefined && isImplied)) read.hold = DEFAULT_HOLD
  else if (hold !== undefined) {
    const life = tryDuration(hold)
    if (life === undefined || life < 1 || life > MAX_HOLD)
      addWrongValue(problems, at(path, 'hold'), hold, `true, or ${DURATION_FORMS}, at most 1day`)
    else read.hold = life
  }
  const debt = fields.get('debt')
  if (debt !== undefined) {
    if (typeof debt === 'boolean' || isUnits(debt)) read.debt = debt
    else addWrongValue(problems, at(path, 'debt'), debt, 'true, false, or a whole number of units')
  }
  const share = fields.get('holdShare')
  if (share !== undefined) {
    if (typeof share === 'number' && share > 0 && share <= 1) read.holdShare = share
    else addWrongValue(problems, at(path, 'holdShare'), share, 'a number above 0 and at most 1')
  }
  const concurrency = fields.get('concurrency')
  if (concurrency !== undefined) {
    if (isUnits(concurrency) && concurrency >= 1 && concurrency <= MAX_CONCURRENCY)
      read.concurrency = concurrency
    else
      addWrongValue(
        problems,
        at(path, 'concurrency'),
        concurrency,
        `a whole number of slots, 1 to ${MAX_CONCURRENCY}`,
      )
  }
  const weights = fields.get('weights')
  if (weights !== undefined) {
    const parsedWeights = readWeights(problems, at(path, 'weights'), weights)
    if (parsedWeights !== undefined) read.weights = parsedWeights
  }
  return read
}

/** Slots as a limit: so many units out at once. Nothing is ever spent, so that the count knows no window. */
export function slotLimit({ concurrency, hold }: HoldFields): Limit | undefined {
  if (concurrency === undefined || hold === undefined) return undefined
  const counted = { quota: concurrency, window: hold, burst: concurrency }
  return { algorithm: 'fixed-window', ...counted, slots: true }
}

/** Notes what does not go together: slots beside a limit, and holds on a limit that cannot keep them. */
export function checkHoldLimit(
  problems: Problems,
  path: string,
  fields: ReadonlyMap<string, unknown>,
  read: HoldFields,
  limit: unknown,
): void {
  const slots = slotLimit(read)
  if (slots !== undefined) {
    for (const name of NOT_BESIDE_SLOTS)
      if (fields.get(name) !== undefined)
        addProblem(problems, at(path, name), fields.get(name), 'has no meaning beside concurrency')
    if (fields.get('limit') !== undefined && !isSameLimit(fields.get('limit'), slots))
      addProblem(
        problems,
        at(path, 'limit'),
        fields.get('limit'),
        'stands beside concurrency; accepted: one of the two',
      )
    return
  }
  if (read.hold === undefined) return
  if (fields.get('candidate') !== undefined)
    addProblem(
      problems,
      at(path, 'candidate'),
      fields.get('candidate'),
      'has no effect on a rule with hold; accepted: none',
    )
  checkKeepsHolds(problems, at(path, 'hold'), fields.get('hold'), limit)
}

/** Notes the tiers and overrides of a rule with holds whose limits cannot keep them. */
export function checkHoldChoices(problems: Problems, path: string, rule: RuleInCode): void {
  const { hold, concurrency, tiers, overrides = [] } = rule
  if (hold === undefined || concurrency !== undefined) return
  const limits = at(at(path, 'tiers'), 'limits')
  for (const [tier, limit] of Object.entries(tiers?.limits ?? {}))
    checkKeepsHolds(problems, at(limits, tier), limit, limit)
  for (const [i, { limit }] of overrides.entries())
    checkKeepsHolds(problems, at(at(at(path, 'overrides'), i), 'limit'), limit, limit)
}

/** Whether an algorithm can count units that are out. */
export function keepsHolds({ algorithm }: Pick<Limit, 'algorithm'>): boolean {
  return algorithmOf({ algorithm }).words > 0
}

function checkKeepsHolds(problems: Problems, path: string, value: unknown, limit: unknown): void {
  const { algorithm } = (limit ?? {}) as Partial<Limit>
  if (algorithm === undefined || keepsHolds({ algorithm })) return
  addProblem(
    problems,
    path,
    value,
    `with ${algorithm}, which cannot keep holds; accepted: another algorithm`,
  )
}

function readWeights(problems: Problems, path: string, value: unknown): TokenWeights | undefined {
  const table = readFields(problems, path, value, TOKEN_KINDS, `{ ${TOKEN_KINDS.join(', ')} }`)
  if (table === undefined) return undefined
  const weights: Record<string, number> = {}
  for (const kind of TOKEN_KINDS) {
    const weight = table.get(kind)
    if (weight === undefined) continue
    if (typeof weight === 'number' && weight >= 0 && weight <= 1_000_000) weights[kind] = weight
    else addWrongValue(problems, at(path, kind), weight, 'a number of units, 0 to 1000000')
  }
  return Object.freeze(weights)
}

function isUnits(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isSameLimit(value: unknown, { algorithm, quota, window, burst }: Limit): boolean {
  const other = value as Partial<Limit> | null
  return (
    typeof other === 'object' &&
    other?.algorithm === algorithm &&
    other.quota === quota &&
    other.window === window &&
    other.burst === burst
  )
}
