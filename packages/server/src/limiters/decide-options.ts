// What surrounds every decision of the service, for all protocols: blocks before it, observers after it.
import {
  systemClock,
  visibleOutcomes,
  type Attributes,
  type Decision,
  type DecideOptions,
  type DecisionRequest,
  type LimiterWarning,
  type Millis,
  type OnDecision,
  type OnSettled,
  type Store,
  type ThresholdWatch,
} from 'sluice'
import type { Block } from '../controls/control.ts'
import type { KnownBlocks } from '../controls/live-controls.ts'
import type { CountedRules, DecisionMetrics } from '../metrics/decision-metrics.ts'
import type { RecentTraffic } from '../observe/recent-traffic.ts'
import type { Histogram } from '../metrics/series.ts'
import type { HeldUnits } from '../metrics/units-out.ts'
import type { Observer } from '../observe/observer.ts'
import { RoutineDecisions } from './routine-decisions.ts'

/** Decisions of one tick that are all taken. */
const UNSAMPLED = 100
/** Beyond them, one in so many is taken at first. */
const LEAST_STEP = 8
/** When so many were taken of one tick, half as many are taken from then on. */
const TAKEN_BY_STEP = 100

const NONE: ReadonlySet<string> = new Set()

/** What all decisions of the service share. */
export interface DecisionSurroundings {
  /** Makes the decisions; answers also while a remote store cannot. */
  readonly store: Store
  readonly decisions: DecisionMetrics
  readonly observer: Observer
  /** Keeps the last requests; undefined when nothing shows them. */
  readonly recent?: RecentTraffic | undefined
  /** How long decisions took that the remote store made. */
  readonly storeDuration?: Histogram | undefined
  /** Counts what reservations and slots hold. */
  readonly held: HeldUnits
  /** What operators have blocked; undefined when they cannot. */
  readonly blocks?: KnownBlocks | undefined
  /** Receives mistakes that show while a limiter runs, except rules that were skipped. */
  readonly onWarning?: ((policy: string, warning: LimiterWarning) => void) | undefined
  /** Makes the observer of thresholds for a policy. */
  readonly thresholds?: ((policy: string) => ThresholdWatch) | undefined
  /** Called with the name of every policy and domain that decides by a remote store. */
  readonly onRules?: ((name: string) => void) | undefined
}

/** The options of {@link decide} for some rules, by the name of their policy or domain. */
export function decideOptions(
  counted: CountedRules,
  surroundings: DecisionSurroundings,
): DecideOptions & { readonly onSettled?: OnSettled | undefined } {
  const { store, blocks, thresholds, onRules } = surroundings
  if (store.sync !== true) onRules?.(counted.name)
  const hasThresholds = counted.rules.some((rule) => rule.thresholds !== undefined)
  const noteThresholds = hasThresholds ? thresholds?.(counted.name) : undefined
  const blockOf = (attributes: Attributes): Block | undefined =>
    blocks?.blocks?.find(counted.name, attributes, systemClock())
  const blockedFor = (attributes: Attributes): Millis | undefined => {
    const block = blocks?.blocks === null ? undefined : blockOf(attributes)
    return block && block.until - systemClock()
  }
  return {
    store,
    onSettled: noteThresholds?.settled,
    blocked: blocks && blockedFor,
    blockedBy: blocks && (() => blocks.blocks?.names ?? NONE),
    ...observeDecisions(counted, surroundings, blockOf, noteThresholds),
  }
}

/** The observers among the options of {@link decide}; `blockOf` finds the block of a request that no rule refused. */
function observeDecisions(
  counted: CountedRules,
  { store, decisions, observer, recent, storeDuration }: DecisionSurroundings,
  blockOf: (attributes: Attributes) => Block | undefined,
  noteThresholds: OnDecision | undefined,
): Pick<DecideOptions, 'identify' | 'isTimed' | 'onDecision'> {
  const isRemote = store.sync !== true
  const metrics = decisions.of(counted, isRemote)
  const rules = observer.of(counted, (rule) => metrics.agesOf(rule))
  const sampler = new DecisionSampler()
  /** How many decisions the present one stands for in the sample. */
  let weight = 0
  const isSampled = (): boolean => {
    weight = sampler.weight(observer.ticks)
    return weight > 0
  }
  /** The operator's block that refused a request; a request that no rule refused was blocked. */
  const blockBehind = ({ rule }: Decision, { attributes }: DecisionRequest): Block | undefined =>
    rule === null ? attributes.map(blockOf).find((one) => one !== undefined) : undefined
  const hasRoutine = noteThresholds === undefined && !isRemote
  const routine = hasRoutine ? new RoutineDecisions(metrics, rules) : undefined
  const note = (decision: Decision, request: DecisionRequest, elapsed: Millis): void => {
    if (noteThresholds !== undefined) noteThresholds(decision, request, elapsed)
    metrics.count(decision, request)
    if (isRemote) {
      weight = sampler.weight(observer.ticks)
      metrics.duration.observe(elapsed)
    }
    if (weight > 0) {
      recent?.note(counted.name, decision, request, observer.ticks)
      const outcomes = visibleOutcomes(decision)
      metrics.measure(decision, request.checks, outcomes, weight)
      if (!isRemote) metrics.duration.observe(elapsed, weight)
      else if (outcomes[0]?.source === 'store') storeDuration?.observe(elapsed, weight)
    }
    const block = decision.allowed ? undefined : blockBehind(decision, request)
    rules.note(decision, request, block, weight)
    routine?.learn(request)
  }
  return {
    identify: rules.identify,
    // A call over the network costs far more than two readings of the clock.
    isTimed: isRemote ? undefined : isSampled,
    onDecision:
      routine === undefined
        ? note
        : (decision, request, elapsed) => {
            if (weight > 0 || !routine.note(decision, request)) note(decision, request, elapsed)
          },
  }
}

/**
 * Chooses which decisions are looked at closely: all of a quiet service, a sample of a busy one, so that the cost is
 * bounded. It chooses at random, since requests may come in a repeating order. However busy a service is, a few hundred
 * decisions of a tick are taken; each stands for as many as the step by which it was chosen.
 */
export class DecisionSampler {
  private tick = 0
  private seen = 0
  /** Decisions until the next that is taken; `rest` of them once all of a new tick's first are. */
  private skip = 0
  private rest = 0
  /** One decision in so many is taken. */
  private step = LEAST_STEP
  /** What the next one that is taken stands for: the step by which it was chosen. */
  private next = LEAST_STEP
  private taken = 0
  private random = 0x2545f491

  /** How many decisions the next one stands for; 0: it is not taken. `tick` changes four times a second. */
  weight(tick: number): number {
    // So short that V8 compiles it into every decision.
    if (tick !== this.tick || this.skip === 0) return this.choose(tick)
    this.skip -= 1
    return 0
  }

  private choose(tick: number): number {
    if (tick !== this.tick) this.turn(tick)
    if (this.seen < UNSAMPLED) {
      this.seen += 1
      return 1
    }
    if (this.rest > 0) {
      this.skip = this.rest - 1
      this.rest = 0
      return 0
    }
    const weight = this.next
    if (++this.taken % TAKEN_BY_STEP === 0) this.step *= 2
    this.next = this.step
    this.skip = this.gap()
    return weight
  }

  private turn(tick: number): void {
    this.tick = tick
    this.seen = 0
    this.rest += this.skip
    this.skip = 0
    // This tick is probably as busy as the last one; half the step makes up for its doubling meanwhile.
    if (this.step > LEAST_STEP) this.step /= 2
    this.taken = 0
  }

  /** From 0 to twice the step, evenly, so that one in a step is taken. */
  private gap(): number {
    let { random } = this
    random ^= random << 13
    random ^= random >>> 17
    random ^= random << 5
    this.random = random
    return (random >>> 0) % (2 * this.step - 1)
  }
}
