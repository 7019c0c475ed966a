// What is probably wrong with a block or an override that an operator sets: no request has what it asks for.
import type { Condition, Policy } from 'sluice'
import type { Config } from '../config/config.ts'
import { nearestName } from '../config/did-you-mean.ts'
import { unmetConditions, USUAL_ATTRIBUTES } from '../config/unmet-conditions.ts'

/** What is known of the requests of the service. */
export interface KnownRequests {
  readonly proxy: Config['proxy']
  /** The policies in force. */
  readonly policies: () => readonly Policy[]
  /** Whether descriptors are counted, whose attributes may have any name. */
  readonly hasDescriptors: boolean
}

/** Sentences for the operator; none when nothing is suspicious. Callers of the API may still send anything. */
export function controlWarnings(
  who: string,
  when: Condition,
  { proxy, policies, hasDescriptors }: KnownRequests,
): readonly string[] {
  const known = new Set([
    ...USUAL_ATTRIBUTES,
    'network',
    ...Object.keys(proxy.attributes),
    ...policies().flatMap(({ rules }) => rules.flatMap(({ by }) => by)),
    ...policies().flatMap(({ rules }) => rules.flatMap(({ when = {} }) => Object.keys(when))),
  ])
  const unknown = hasDescriptors ? [] : Object.keys(when).filter((name) => !known.has(name))
  return [
    ...unknown.map((name) => {
      const meant = nearestName(name, known)
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`
      return `${who} asks for ${name}, which no rule names and no proxy sets: it holds only for callers that send it${hint}`
    }),
    ...unmetConditions(who, when, { proxy, isBehindProxy: false }).map(({ message }) => message),
  ]
}
