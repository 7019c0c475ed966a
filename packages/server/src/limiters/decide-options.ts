// What stands around every decision of the service, whichever protocol made the checks: blocks before, observers after.
import {
  systemClock,
  visibleOutcomes,
  type Attributes,
  type DecideOptions,
  type Millis,
  type OnSettled,
  type Store,
  type ThresholdWatch,
} from 'sluice'
import type { Block } from '../controls/control.ts'
import type { KnownBlocks } from '../controls/live-controls.ts'
import type { CountedRules, DecisionMetrics } from '../metrics/decision-metrics.ts'
import type { QueuedDecision } from '../observe/decision-queue.ts'
import type { Observer } from '../observe/observer.ts'
import { DecisionSampler } from '../observe/sampler.ts'
import type { HeldUnits } from '../metrics/units-out.ts'
import type { RecentTraffic } from '../metrics/recent-traffic.ts'

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
  /** Makes the observer of thresholds for a policy. */
  readonly thresholds?: ((policy: string) => ThresholdWatch) | undefined
  /** Called with the name of every policy and domain that decides by a remote store. */
  readonly onRules?: ((name: string) => void) | undefined
  /** Called with how long a decision took that the remote store made, and how many it stands for. */
  readonly onStoreAnswer?: ((elapsed: Millis, weight: number) => void) | undefined
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
    onStoreAnswer,
  }: DecisionSurroundings,
): DecideOptions & { readonly onSettled?: OnSettled | undefined } {
  const isRemote = store.sync !== true
  if (isRemote) onRules?.(counted.name)
  const metrics = decisions.of(counted)
  const rules = observer.of(counted, (rule) => metrics.agesOf(rule))
  const sampler = new DecisionSampler()
  const hasThresholds = counted.rules.some((rule) => rule.thresholds !== undefined)
  const noteThresholds = hasThresholds ? thresholds?.(counted.name) : undefined
  const blockOf = (attributes: Attributes): Block | undefined =>
    blocks?.blocks?.find(counted.name, attributes, systemClock())
  /** How many decisions the one stands for that is made now; only a timed one is chosen before. */
  let weight: number | undefined
  const isSampled = (): boolean => {
    weight = sampler.weight(observer.ticks)
    return weight > 0
  }
  const note = (queued: QueuedDecision): void => {
    const { decision, request, elapsed, block } = queued
    const weight = queued.weight ?? sampler.weight(observer.ticks)
    metrics.count(decision, request)
    if (isRemote) {
      metrics.countRemote(decision)
      metrics.time(elapsed, 1)
    }
    if (weight > 0) {
      const outcomes = visibleOutcomes(decision)
      metrics.measure(outcomes, request.checks, weight)
      if (!isRemote) metrics.time(elapsed, weight)
      else if (outcomes[0]?.source === 'store') onStoreAnswer?.(elapsed, weight)
    }
    rules.note(decision, request, block, weight)
  }
  return {
    store,
    onSettled: noteThresholds?.settled,
    blocked:
      blocks &&
      ((attributes) => {
        const block = blocks.blocks === null ? undefined : blockOf(attributes)
        return block && block.until - systemClock()
      }),
    blockedBy: blocks && (() => blocks.blocks?.names ?? NONE),
    identify: rules.identify,
    // A call over the network costs far more than two readings of the clock.
    isTimed: isRemote ? undefined : isSampled,
    onDecision: (decision, request, elapsed) => {
      recent?.note(counted.name, decision, request, observer.ticks)
      noteThresholds?.(decision, request, elapsed)
      // Refused without a rule: an operator has blocked it.
      const block =
        !decision.allowed && decision.rule === null
          ? request.attributes.map(blockOf).find((one) => one !== undefined)
          : undefined
      observer.queue.add({ decision, request, elapsed, weight, block, note })
    },
  }
}
