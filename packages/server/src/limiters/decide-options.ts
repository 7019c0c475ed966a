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
  type OnSettled,
  type Store,
  type ThresholdWatch,
} from 'sluice'
import type { Block } from '../controls/control.ts'
import type { KnownBlocks } from '../controls/live-controls.ts'
import type { CountedRules, DecisionMetrics } from '../metrics/decision-metrics.ts'
import type { Histogram } from '../metrics/series.ts'
import type { Observer } from '../observe/observer.ts'
import { DecisionSampler } from '../observe/sampler.ts'
import type { HeldUnits } from '../metrics/units-out.ts'
import type { RecentTraffic } from '../metrics/recent-traffic.ts'
import { RoutineDecisions } from './routine-decisions.ts'

const NONE: ReadonlySet<string> = new Set()

/** What all decisions of the service share. */
export interface DecisionSurroundings {
  /** Answers also while a remote store cannot. */
  readonly store: Store
  readonly decisions: DecisionMetrics
  readonly observer: Observer
  /** Counts what reservations and slots hold. */
  readonly held: HeldUnits
  /** Keeps the last requests; undefined when nothing shows them. */
  readonly recent?: RecentTraffic | undefined
  /** What operators have blocked; undefined when they cannot. */
  readonly blocks?: KnownBlocks | undefined
  /** Receives mistakes that show while a limiter runs, except rules that were skipped. */
  readonly onWarning?: ((policy: string, warning: LimiterWarning) => void) | undefined
  /** Makes the observer of thresholds for a policy. */
  readonly thresholds?: ((policy: string) => ThresholdWatch) | undefined
  /** Called with the name of every policy and domain that decides by a remote store. */
  readonly onRules?: ((name: string) => void) | undefined
  /** How long decisions took that the remote store made. */
  readonly storeDuration?: Histogram | undefined
}

/** The options of {@link decide} for some rules, by the name of their policy or domain. */
export function decideOptions(
  counted: CountedRules,
  {
    store,
    decisions,
    observer,
    recent,
    blocks,
    thresholds,
    onRules,
    storeDuration,
  }: DecisionSurroundings,
): DecideOptions & { readonly onSettled?: OnSettled | undefined } {
  const isRemote = store.sync !== true
  if (isRemote) onRules?.(counted.name)
  const metrics = decisions.of(counted)
  const rules = observer.of(counted, (rule) => metrics.ruleNotes.agesOf(rule))
  const sampler = new DecisionSampler()
  const hasThresholds = counted.rules.some((rule) => rule.thresholds !== undefined)
  const noteThresholds = hasThresholds ? thresholds?.(counted.name) : undefined
  const blockOf = (attributes: Attributes): Block | undefined =>
    blocks?.blocks?.find(counted.name, attributes, systemClock())
  /** How many decisions the present one stands for in the sample. */
  let weight = 0
  /** Whether a block was found since the last decision. */
  let mayBeBlocked = false
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
      metrics.countRemote(decision)
      metrics.duration.observe(elapsed)
    }
    if (weight > 0) {
      recent?.note(counted.name, decision, request, observer.ticks)
      const outcomes = visibleOutcomes(decision)
      metrics.ruleNotes.measure(outcomes, request.checks, weight)
      if (!isRemote) metrics.duration.observe(elapsed, weight)
      else if (outcomes[0]?.source === 'store') storeDuration?.observe(elapsed, weight)
    }
    const block = decision.allowed ? undefined : blockBehind(decision, request)
    rules.note(decision, request, block, weight)
    routine?.learn(request)
  }
  return {
    store,
    onSettled: noteThresholds?.settled,
    blocked:
      blocks &&
      ((attributes) => {
        const block = blocks.blocks === null ? undefined : blockOf(attributes)
        if (block === undefined) return undefined
        mayBeBlocked = true
        return block.until - systemClock()
      }),
    blockedBy: blocks && (() => blocks.blocks?.names ?? NONE),
    identify: rules.identify,
    // A call over the network costs far more than two readings of the clock.
    isTimed: isRemote ? undefined : isSampled,
    onDecision:
      routine === undefined
        ? note
        : (decision, request, elapsed) => {
            if (weight === 0 && !mayBeBlocked && routine.note(decision, request)) return
            mayBeBlocked = false
            note(decision, request, elapsed)
          },
  }
}
