// The path of every request: attributes, rules, keys, store, decision.
import { DecidedByOne } from '../decision/decided-by-one.ts'
import { Decided } from '../decision/decided.ts'
import type { Spoken } from '../decision/deciding.ts'
import type { Decision, Skipped } from '../decision/decision.ts'
import { show, SluiceError } from '../errors.ts'
import { isPlain, keyOf } from '../key/key.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { CompiledRule, PlacedLimit } from '../policy/compile.ts'
import { attributeText } from '../policy/pattern.ts'
import type { Attributes } from '../policy/policy.ts'
import type { Check, MaybePromise, Store } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import { partOfAll } from './part-of.ts'

const NOTHING: readonly never[] = []

/** A check with the rule that asks it. */
export interface Asked extends Check, Spoken {
  readonly shadow: boolean
}

/** Decides by compiled rules. Answers at once on a synchronous store, else by promises. */
export class RuleLimiter {
  private readonly rules: readonly CompiledRule[]
  private readonly store: Store
  private readonly ownsStore: boolean
  private readonly hashKeys: boolean
  private readonly takes: Accepted
  /** The only rule, when it wants nothing but a key and the store answers by promises. */
  private only: CompiledRule | null
  private closed = false

  constructor(
    rules: readonly CompiledRule[],
    store: Store,
    ownsStore: boolean,
    hashKeys: boolean,
    isBareLimit: boolean,
  ) {
    this.rules = rules
    this.takes = isBareLimit ? 'key' : rules.some(asksForKey) ? 'any' : 'attributes'
    this.store = store
    this.ownsStore = ownsStore
    this.hashKeys = hashKeys
    const only = rules.length === 1 && !hashKeys && isBare(rules[0]!) ? rules[0]! : null
    this.only = store.sync === true ? null : only
  }

  check(attributes: Attributes | string, cost = 1): MaybePromise<Decision> {
    if (this.only !== null && cost === 1 && typeof attributes === 'string' && isPlain(attributes))
      return this.checkOnly(this.only, attributes)
    return this.checkRules(attributes, cost)
  }

  peek(attributes: Attributes | string, cost = 1): MaybePromise<Decision> {
    const { checks, skipped } = this.ask(attributes, cost)
    return decided(checks, checks.length === 0 ? NOTHING : this.store.peek(checks), skipped)
  }

  refund(attributes: Attributes | string, cost = 1, takenAt?: Millis): MaybePromise<void> {
    if (takenAt !== undefined && !Number.isSafeInteger(takenAt)) throw badInstant(takenAt)
    const { checks } = this.ask(attributes, cost)
    if (takenAt === undefined) return this.store.refund(checks)
    return this.store.refund(checks.map((check) => ({ ...check, takenAt })))
  }

  reset(attributes: Attributes | string): MaybePromise<void> {
    return this.store.reset(this.ask(attributes, 0).checks)
  }

  /** The part of the store that keeps the counts of a request. */
  partOf(attributes: Attributes | string): number {
    const { only, store } = this
    if (store.shardOf === undefined) return 0
    if (only !== null && typeof attributes === 'string' && isPlain(attributes))
      return store.shardOf(asked(only, attributes, 1))
    try {
      return partOfAll(store, this.ask(attributes, 0).checks)
    } catch {
      // A mistake, of which the call itself tells.
      return 0
    }
  }

  close(): MaybePromise<void> {
    this.closed = true
    this.only = null
    if (this.ownsStore) return this.store.close()
  }

  /** {@link checkRules} without its lists: many requests wait for a remote store, and what they hold is garbage later. */
  private checkOnly(rule: CompiledRule, key: string): MaybePromise<Decision> {
    const one = asked(rule, key, 1)
    const verdicts = this.store.take([one])
    if ('then' in verdicts) return verdicts.then(([verdict]) => new DecidedByOne(one, verdict!))
    return new DecidedByOne(one, verdicts[0]!)
  }

  private checkRules(attributes: Attributes | string, cost: number): MaybePromise<Decision> {
    const { checks, skipped } = this.ask(attributes, cost)
    return decided(checks, checks.length === 0 ? NOTHING : this.store.take(checks), skipped)
  }

  /** One check for each rule that speaks. */
  private ask(attributes: Attributes | string, cost: number): Question {
    if (this.closed)
      throw new SluiceError(
        'limiter-closed',
        'the limiter is closed; make a new one, or close it later',
      )
    if (!isCost(cost)) throw badCost('cost', cost)
    return this.askRules(known(attributes, this.takes), cost)
  }

  private askRules(attributes: Attributes, cost: number): Question {
    // Of the right length from the start: V8 makes room for seventeen on a first push.
    const checks = new Array<Asked>(this.rules.length)
    let asking = 0
    let skipped: Skipped[] | undefined
    for (const rule of this.rules) {
      if (rule.applies !== null && !rule.applies(attributes)) continue
      const key = this.keyFor(rule, attributes)
      const chosen = key === undefined || rule.choose === null ? rule.base : rule.choose(attributes)
      if (key !== undefined && chosen !== null)
        checks[asking++] = asked(rule, key, costFor(rule, attributes, cost), chosen)
      else (skipped ??= []).push(skippedOf(rule, attributes))
    }
    if (asking < checks.length) checks.length = asking
    return { checks, skipped: skipped ?? NOTHING }
  }

  /** The key of a request; undefined when an attribute of it is not known. */
  private keyFor({ by }: CompiledRule, attributes: Attributes): string | undefined {
    const values = new Array<string>(by.length)
    for (let i = 0; i < by.length; i++) {
      const value = attributeText(attributes, by[i]!)
      if (value === undefined) return undefined
      values[i] = value
    }
    return keyOf(values, this.hashKeys)
  }
}

/** What a request asks of the store, and which rules do not ask. */
interface Question {
  readonly checks: readonly Asked[]
  readonly skipped: readonly Skipped[]
}

function skippedOf({ rule, by }: CompiledRule, attributes: Attributes): Skipped {
  const missing = by.find((name) => attributeText(attributes, name) === undefined)
  return missing === undefined ? { rule: rule.name } : { rule: rule.name, missing }
}

function decided(
  asked: readonly Asked[],
  verdicts: MaybePromise<readonly Verdict[]>,
  skipped: readonly Skipped[],
): MaybePromise<Decision> {
  // A promise of any library or realm.
  if ('then' in verdicts) return verdicts.then((verdicts) => new Decided(asked, verdicts, skipped))
  return new Decided(asked, verdicts, skipped)
}

export function asked(
  rule: CompiledRule,
  key: string,
  cost: number,
  placed: PlacedLimit = rule.base,
): Asked {
  const { space, limit } = placed
  const { shadow, countRefused } = rule
  return { space, key, limit, cost, shadow, countRefused, rule: rule.rule }
}

export function isBare(rule: CompiledRule): boolean {
  return (
    rule.applies === null &&
    rule.choose === null &&
    rule.cost === undefined &&
    !rule.shadow &&
    rule.by.length === 1 &&
    rule.by[0] === 'key'
  )
}

/** What a limiter can be asked about. Anything else would be allowed for lack of a rule, and nobody would notice. */
type Accepted = 'key' | 'attributes' | 'any'

const ACCEPTED: Readonly<Record<Accepted, string>> = {
  key: "a key that is not empty, such as 'user:42', or { key }",
  attributes: "attributes such as { user: '42' }; no rule of this policy asks for a key",
  any: "attributes such as { user: '42' }, or a key that is not empty",
}

function known(attributes: unknown, takes: Accepted): Attributes {
  if (typeof attributes === 'string' && attributes !== '' && takes !== 'attributes')
    return { key: attributes }
  const isObject =
    typeof attributes === 'object' && attributes !== null && !Array.isArray(attributes)
  if (
    isObject &&
    (takes !== 'key' || attributeText(attributes as Attributes, 'key') !== undefined)
  ) {
    return attributes as Attributes
  }
  throw new SluiceError(
    'invalid-attributes',
    `attributes are ${show(attributes)}; accepted: ${ACCEPTED[takes]}`,
  )
}

/** Whether a key given as text means anything to a rule. */
function asksForKey({ rule, by }: CompiledRule): boolean {
  const conditions = [rule.when ?? {}, ...(rule.overrides ?? []).map(({ when }) => when)]
  const names = [...by, ...conditions.flatMap(Object.keys), rule.tiers?.attribute, rule.cost]
  return by.length === 0 || names.includes('key')
}

function costFor(rule: CompiledRule, attributes: Attributes, cost: number): number {
  if (typeof rule.cost === 'number') return rule.cost
  if (rule.cost === undefined || !Object.hasOwn(attributes, rule.cost)) return cost
  const own = attributes[rule.cost]
  if (own === undefined || own === null || own === '') return cost
  if (!isCost(own)) throw badCost(`attribute ${rule.cost}`, own)
  return own
}

function isCost(cost: unknown): cost is number {
  return Number.isSafeInteger(cost) && (cost as number) >= 0
}

function badCost(what: string, value: unknown): SluiceError {
  return new SluiceError(
    'invalid-cost',
    `${what} is ${show(value)}; accepted: a whole number of units, from 0 to 2^53 - 1`,
  )
}

function badInstant(value: unknown): SluiceError {
  return new SluiceError(
    'invalid-option',
    `takenAt is ${show(value)}; accepted: the decision's at, in milliseconds`,
  )
}
