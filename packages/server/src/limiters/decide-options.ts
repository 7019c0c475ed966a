// What stands around every decision of the service, whichever protocol made the checks: blocks before, observers after.
import {
  systemClock,
  visibleOutcomes,
  type Attributes,
  type DecideOptions,
  type Decision,
  type Millis,
  type OnDecision,
  type Store,
} from 'sluice'
import type { Block } from '../controls/control.ts'
import type { KnownBlocks } from '../controls/live-controls.ts'
import type { CountedRules, DecisionMetrics } from '../metrics/decision-metrics.ts'
import type { Observer } from '../observe/observer.ts'
import type { HeldUnits } from '../metrics/units-out.ts'
import type { RecentTraffic } from '../metrics/recent-traffic.ts'

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
  readonly thresholds?: ((policy: string) => OnDecision) | undefined
  /** Called with the name of every policy and domain that decides by a remote store. */
  readonly onRules?: ((name: string) => void) | undefined
  /** Called with how long a decision took that the remote store made. */
  readonly onStoreAnswer?: ((elapsed: Millis) => void) | undefined
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
): DecideOptions {
  const isRemote = store.sync !== true
  if (isRemote) onRules?.(counted.name)
  const metrics = decisions.of(counted)
  const rules = observer.of(counted)
  const hasThresholds = counted.rules.some((rule) => rule.thresholds !== undefined)
  const noteThresholds = hasThresholds ? thresholds?.(counted.name) : undefined
  const blockOf = (attributes: Attributes): Block | undefined =>
    blocks?.blocks?.find(counted.name, attributes, systemClock())
  return {
    store,
    blocked: blocks && ((attributes) => timeLeft(blockOf(attributes))),
    identify: rules.identify,
    onDecision: (decision, request, elapsed) => {
      const outcomes = visibleOutcomes(decision)
      metrics.note(decision, elapsed, request, outcomes)
      recent?.note(counted.name, decision, request)
      noteThresholds?.(decision, request, elapsed)
      if (isRemote && isByStore(decision)) onStoreAnswer?.(elapsed)
      const block =
        !decision.allowed && decision.reason === 'blocked'
          ? request.attributes.map(blockOf).find((one) => one !== undefined)
          : undefined
      rules.note(decision, request, block, outcomes)
    },
  }
}

/** Whether the store was called and answered. */
function isByStore(decision: Decision): boolean {
  return !decision.degraded && decision.outcomes[0]?.source === 'store'
}

function timeLeft(block: Block | undefined): Millis | undefined {
  return block === undefined ? undefined : block.until - systemClock()
}
