// What stands around every decision of the service, whichever protocol made the checks: blocks before, observers after.
import {
  systemClock,
  type Attributes,
  type DecideOptions,
  type Decision,
  type DecisionRequest,
  type Millis,
  type RuleCheck,
  type Store,
} from 'sluice'
import type { KnownBlocks } from '../controls/live-controls.ts'
import type { CountedRules, DecisionMetrics } from '../metrics/decision-metrics.ts'
import type { Offenders } from '../metrics/offenders.ts'
import type { RecentTraffic } from '../metrics/recent-traffic.ts'

/** What all decisions of the service share. */
export interface DecisionSurroundings {
  /** Answers also while a remote store cannot. */
  readonly store: Store
  readonly decisions: DecisionMetrics
  readonly offenders: Offenders
  /** Keeps the last requests; undefined when nothing shows them. */
  readonly recent?: RecentTraffic | undefined
  /** What operators have blocked; undefined when they cannot. */
  readonly blocks?: KnownBlocks | undefined
  /** Called with the name of every policy and domain that decides by a remote store. */
  readonly onRules?: ((name: string) => void) | undefined
}

/** A check that knows which of several sets of attributes it was made from. */
export interface DescribedCheck extends RuleCheck {
  readonly attributes?: Attributes
}

/** The options of {@link decide} for some rules, by the name of their policy or domain. */
export function decideOptions(
  counted: CountedRules,
  { store, decisions, offenders, recent, blocks, onRules }: DecisionSurroundings,
): DecideOptions {
  if (store.sync !== true) onRules?.(counted.name)
  const metrics = decisions.of(counted)
  const noteRefusal = offenders.noterFor(counted)
  return {
    store,
    blocked: blocks && ((attributes) => blockedFor(blocks, counted.name, attributes)),
    onDecision: (decision, request, elapsed) => {
      metrics.note(decision, elapsed)
      recent?.note(counted.name, decision, request)
      if (!decision.allowed) noteRefusal(decision, refusedAttributes(decision, request))
    },
  }
}

function blockedFor(
  { blocks }: KnownBlocks,
  policy: string,
  attributes: Attributes,
): Millis | undefined {
  if (blocks === null) return undefined
  const now = systemClock()
  const block = blocks.find(policy, attributes, now)
  return block === undefined ? undefined : block.until - now
}

/** The attributes that the refusing rule counted by. */
function refusedAttributes(decision: Decision, request: DecisionRequest): Attributes {
  const [first = {}] = request.attributes
  if (request.attributes.length === 1) return first
  const { outcomes, rule } = decision
  const refusing = outcomes.findIndex((outcome) => outcome.rule === rule && !outcome.allowed)
  return (request.checks[refusing] as DescribedCheck | undefined)?.attributes ?? first
}
