// Finds blocks and overrides that probably have no effect, because no request has the attributes that they name.
import type { Condition, LimitOrNone, Policy } from 'sluice'
import { clientAddress } from 'sluice/http'
import type { Config } from '../config/config.ts'
import { didYouMean } from '../config/problem.ts'
import { listIn } from '../config/literal-patterns.ts'
import { conditionWithBraces, withBraces } from '../config/route-spelling.ts'
import { isBareDuration } from '../config/text-remarks.ts'
import { unmetConditions, USUAL_ATTRIBUTES } from '../config/unmet-conditions.ts'

/** What is known of the requests of the service. */
export interface KnownRequests {
  readonly proxy: Config['proxy']
  /** The policies in force. */
  readonly policies: () => readonly Policy[]
  /** Whether descriptors are counted, whose attributes may have any name. */
  readonly hasDescriptors: boolean
  /** The policy that decides about requests of the reverse proxy, which knows declared routes alone. */
  readonly proxyPolicy?: string | undefined
}

/** Sentences for the operator who sets an override; none when nothing is suspicious. */
export function overrideWarnings(
  when: Condition,
  known: KnownRequests,
  { policy, limit }: { readonly policy?: string; readonly limit?: LimitOrNone } = {},
): readonly string[] {
  return [
    ...controlWarnings('the override', conditionWithBraces(when), known, policy),
    ...(limit === undefined ? [] : windowRemark(limit)),
  ]
}

function windowRemark(limit: LimitOrNone): readonly string[] {
  if (typeof limit !== 'object' || typeof limit.window !== 'number') return []
  const { window } = limit
  if (!isBareDuration(window)) return []
  return [`window is ${window} milliseconds; write "${window}s" for seconds, or "${window}ms"`]
}

/** Sentences for the operator who sets a block, which compares whole texts; none when nothing is suspicious. */
export function blockWarnings(
  attributes: Readonly<Record<string, string>>,
  known: KnownRequests,
  policy?: string,
): readonly string[] {
  const { ip, ...others } = attributes
  const when = Object.entries(others).map(([name, text]) => {
    // A block of a route holds for both spellings.
    return [name, { equals: name === 'route' ? withBraces(text) : text }] as const
  })
  return [
    ...Object.entries(attributes).flatMap(([name, text]) => patternRemark(name, text)),
    ...(ip === undefined ? [] : addressRemark(ip)),
    ...controlWarnings('the block', Object.fromEntries(when), known, policy),
  ]
}

/** Texts that proxies set and that begin with a star. */
const STARRED = ['*unmatched', '*other']

function patternRemark(name: string, text: string): readonly string[] {
  if (listIn(text) !== undefined)
    return [
      `the block asks for ${name} ${JSON.stringify(text)}, which is one text, not a list; block each value`,
    ]
  if ((!text.includes('*') || STARRED.includes(text)) && text !== 'present') return []
  return [
    `the block asks for ${name} ${JSON.stringify(text)}, which stands for itself: a block compares whole texts; block each value, or set an override with the limit 0/s, whose conditions accept patterns and networks`,
  ]
}

function addressRemark(ip: string): readonly string[] {
  if (ip.includes('*') || ip === 'present' || clientAddress().of(ip).ip !== undefined) return []
  return [
    `the block asks for ip ${JSON.stringify(ip)}, which is not an address: it holds only for callers that send this text`,
  ]
}

/** Probable mistakes of any condition. */
function controlWarnings(
  who: string,
  when: Condition,
  { proxy, policies, hasDescriptors, proxyPolicy }: KnownRequests,
  policy: string | undefined,
): readonly string[] {
  const isBehindProxy = proxyPolicy !== undefined && proxyPolicy === policy
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
      const lacks = `${who} asks for ${name}, which no rule names and no proxy sets`
      return `${lacks}: it holds only for callers that send it${didYouMean(name, known)}`
    }),
    ...unmetConditions(who, when, { proxy, isBehindProxy }).map(({ message }) => message),
  ]
}
