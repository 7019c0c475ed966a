// Blocks and overrides that an application sets while a limiter runs. They hold in this process, until they end.
import { show, SluiceError } from '../errors.ts'
import { compilePolicy, type CompiledRule } from '../policy/compile.ts'
import { compileOverrides, type FindOverride } from '../policy/override-index.ts'
import { parsePolicyInCode } from '../policy/parse.ts'
import type {
  Attributes,
  Condition,
  LimitOrNone,
  Override,
  PolicyInCode,
} from '../policy/policy.ts'
import type { MaybePromise } from '../stores/store.ts'
import type { LiveCondition } from './policy-of-limiter.ts'
import { systemClock, type Clock, type Millis } from '../time/clock.ts'
import { duration, type Duration } from '../time/duration.ts'

/**
 * A block or an override that was set.
 *
 * @example
 * ```ts
 * const block: LiveControl = createLimiter({ limit: '100/min' }).block('user:42', '1h')
 * block.remove()
 * ```
 */
export interface LiveControl {
  /** When it ends, by this process's clock; null: when it is removed. */
  readonly until: Millis | null
  /** Ends it now. Idempotent. */
  remove(): void
}

/**
 * What a limiter lets an application change while it runs, in this process.
 *
 * @example
 * ```ts
 * const limiter = createLimiter({ limit: '100/min' })
 * limiter.block('user:42', '1h')
 * limiter.override('default', 'user:7', '1000/min', '1d')
 * ```
 */
export interface LimiterControls {
  /**
   * Refuses every request that matches, with the reason `blocked`, for a time. A string is the attribute `key`.
   *
   * @example limiter.block({ user: 'ann' }, '10min')
   */
  block(who: Condition | string, lasts: Duration): LiveControl
  /**
   * Gives the requests that match another limit of a rule, for a time or until it is removed. The newest override that
   * matches wins, before those of the policy and the tiers. A bare limit is the rule `default`.
   *
   * @example limiter.override('per-user', { user: 'ann' }, '1000/min', '1h')
   */
  override(rule: string, who: Condition | string, limit: LimitOrNone, lasts?: Duration): LiveControl
  /**
   * Counts one failure, such as a wrong password, for the lockouts of the rules that apply, as one refusal. The other
   * counts stay as they are. In the store: for the whole fleet.
   *
   * @example await limiter.countFailure({ account: 'ann' })
   */
  countFailure(attributes: Attributes | string): MaybePromise<void>
}

interface LiveBlock {
  readonly when: Condition
  readonly until: Millis
}

interface LiveOverride extends Override {
  readonly rule: string
  readonly until: Millis | null
}

/** The blocks and overrides of one limiter. */
export class Controls implements Omit<LimiterControls, 'countFailure'> {
  /** The policy's rules with the overrides that hold. */
  rules: readonly CompiledRule[]
  /** The conditions of the blocks and overrides; a change replaces the list. */
  conditions: readonly LiveCondition[] = []
  private readonly policy: PolicyInCode
  private readonly onChange: () => void
  private readonly clock: Clock
  private blocks: readonly LiveBlock[] = []
  private findBlock: FindOverride = () => -1
  private overrides: readonly LiveOverride[] = []
  /** When the first override ends. */
  private nextEnd: Millis = Infinity

  constructor(policy: PolicyInCode, onChange: () => void, clock: Clock = systemClock) {
    this.policy = policy
    this.onChange = onChange
    this.clock = clock
    this.rules = compilePolicy(policy)
  }

  /** Whether nothing is set, and the limiter may take its shortest path. */
  get isEmpty(): boolean {
    return this.blocks.length === 0 && this.overrides.length === 0
  }

  block(who: Condition | string, lasts: Duration): LiveControl {
    const rules = [{ name: 'block', by: [], limit: '1/s', overrides: [overrideOf(who, '1/s')] }]
    const { when } = parseForCall('block', { name: 'block', rules }).rules[0]!.overrides![0]!
    const block = { when, until: this.clock() + duration(lasts) }
    this.setBlocks([...this.blocks, block])
    return this.control(block.until, () =>
      this.setBlocks(this.blocks.filter((one) => one !== block)),
    )
  }

  override(
    rule: string,
    who: Condition | string,
    limit: LimitOrNone,
    lasts?: Duration,
  ): LiveControl {
    const { rules } = this.policy
    if (!rules.some(({ name }) => name === rule))
      throw new SluiceError(
        'invalid-option',
        `override: rule is ${show(rule)}; accepted: ${rules.map(({ name }) => name).join(', ')}`,
      )
    const until = lasts === undefined ? null : this.clock() + duration(lasts)
    const override = { ...overrideOf(who, limit), rule, until }
    this.setOverrides([override, ...this.overrides])
    return this.control(until, () =>
      this.setOverrides(this.overrides.filter((one) => one !== override)),
    )
  }

  /** How long these attributes are still blocked; undefined when they are not. */
  blockedFor(attributes: Attributes): Millis | undefined {
    const now = this.clock()
    // The blocks are sorted: the one that lasts longest comes first.
    const block = this.blocks[this.findBlock(attributes)]
    if (block !== undefined && block.until > now) return block.until - now
    if (this.blocks.some(({ until }) => until <= now))
      this.setBlocks(this.blocks.filter(({ until }) => until > now))
    return undefined
  }

  /** Forgets overrides that have ended. */
  refresh(): void {
    const now = this.clock()
    if (now < this.nextEnd) return
    this.setOverrides(this.overrides.filter(({ until }) => until === null || until > now))
  }

  private control(until: Millis | null, remove: () => void): LiveControl {
    return { until, remove }
  }

  private setBlocks(blocks: readonly LiveBlock[]): void {
    this.blocks = blocks.toSorted((a, b) => b.until - a.until)
    this.findBlock = compileOverrides(this.blocks.map(({ when }) => ({ when, limit: 'unlimited' })))
    this.changed()
  }

  private setOverrides(overrides: readonly LiveOverride[]): void {
    const rules = this.policy.rules.map((rule) => {
      const own = overrides.filter((one) => one.rule === rule.name)
      const live = own.map(({ when, limit }) => ({ when, limit }))
      return own.length === 0 ? rule : { ...rule, overrides: [...live, ...(rule.overrides ?? [])] }
    })
    this.rules = compilePolicy(parseForCall('override', { name: this.policy.name, rules }))
    this.overrides = overrides
    this.nextEnd = overrides.reduce((end, { until }) => Math.min(end, until ?? Infinity), Infinity)
    this.changed()
  }

  private changed(): void {
    this.conditions = [
      ...this.blocks.map(({ when }) => ({ what: 'a block', when })),
      ...this.overrides.map(({ rule, when }) => ({ what: `an override of rule ${rule}`, when })),
    ]
    this.onChange()
  }
}

function overrideOf(who: Condition | string, limit: LimitOrNone): Override {
  return { when: typeof who === 'string' ? { key: { equals: who } } : who, limit }
}

/** A policy with a block or override in it. Its mistakes are those of the call. */
function parseForCall(call: string, policy: unknown): PolicyInCode {
  try {
    return parsePolicyInCode(policy)
  } catch (error) {
    const { message, problems } = error as SluiceError
    throw new SluiceError('invalid-option', `${call}: ${message}`, { cause: error, problems })
  }
}
