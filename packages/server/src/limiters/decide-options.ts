// What surrounds every decision of the service, for all protocols: blocks before it, observers after it.
import {
  systemClock,
  type Attributes,
  type DecideOptions,
  type LimiterWarning,
  type Millis,
  type OnSettled,
  type ThresholdWatch,
} from 'sluice'
import type { Block } from '../controls/control.ts'
import type { KnownBlocks } from '../controls/live-controls.ts'
import type { CountedRules } from '../metrics/decision-metrics.ts'
import type { HeldUnits } from '../metrics/units-out.ts'
import { observeDecisions, type DecisionObservers } from './observe-decisions.ts'

const NONE: ReadonlySet<string> = new Set()

/** What all decisions of the service share. */
export interface DecisionSurroundings extends DecisionObservers {
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
