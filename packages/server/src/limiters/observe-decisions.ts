// What observes the decisions of one policy or domain: metrics, sketches and the journal. Of most it is an addition.
import {
  visibleOutcomes,
  type Attributes,
  type Decision,
  type DecideOptions,
  type DecisionRequest,
  type Millis,
  type OnDecision,
  type Store,
} from 'sluice'
import type { Block } from '../controls/control.ts'
import type { CountedRules, DecisionMetrics } from '../metrics/decision-metrics.ts'
import type { Histogram } from '../metrics/series.ts'
import type { RecentTraffic } from '../metrics/recent-traffic.ts'
import type { Observer } from '../observe/observer.ts'
import { DecisionSampler } from '../observe/sampler.ts'
import { RoutineDecisions } from './routine-decisions.ts'

/** What notes decisions, and the store that makes them. */
export interface DecisionObservers {
  /** Answers also while a remote store cannot. */
  readonly store: Store
  readonly decisions: DecisionMetrics
  readonly observer: Observer
  /** Keeps the last requests; undefined when nothing shows them. */
  readonly recent?: RecentTraffic | undefined
  /** How long decisions took that the remote store made. */
  readonly storeDuration?: Histogram | undefined
}

/** The observers among the options of {@link decide}; `blockOf` finds the block of a request that no rule refused. */
export function observeDecisions(
  counted: CountedRules,
  { store, decisions, observer, recent, storeDuration }: DecisionObservers,
  blockOf: (attributes: Attributes) => Block | undefined,
  noteThresholds: OnDecision | undefined,
): Pick<DecideOptions, 'identify' | 'isTimed' | 'onDecision'> {
  const isRemote = store.sync !== true
  const metrics = decisions.of(counted)
  const rules = observer.of(counted, (rule) => metrics.ruleNotes.agesOf(rule))
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
      metrics.countRemote(decision)
      metrics.duration.observe(elapsed)
    }
    if (weight > 0) {
      recent?.note(counted.name, decision, request, observer.ticks)
      const outcomes = visibleOutcomes(decision)
      metrics.ruleNotes.measure(decision, request.checks, weight)
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
