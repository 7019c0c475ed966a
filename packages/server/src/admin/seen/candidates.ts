// What would change if a limit on trial, or a shadow rule, were in force.
import { limit, limitText, type Policy, type Rule } from 'sluice'
import { visible } from '../../log/client-text.ts'
import type { Fleet } from '../../observe/fleet.ts'
import type { Divergence } from '../../observe/rule-trial.ts'
import { seenKeys, type SeenKeys } from '../../observe/seen-keys.ts'
import { shownKeys } from './top-keys.ts'

/** A change that newly refuses more than this share of the requests is reported as risky. */
const MAX_NEWLY_REFUSED = 0.02
const NONE: Divergence = { bothAllow: 0, bothRefuse: 0, newlyRefused: 0, newlyAllowed: 0 }

/** Every limit on trial and every shadow rule of the policies in force, with what it would change. */
export async function candidates(
  fleet: Fleet,
  policies: readonly Policy[],
  most: number,
): Promise<object> {
  const { parts, processes, complete } = await fleet.rules()
  const seen = seenKeys(parts, most)
  const onTrial = policies.flatMap(({ name, rules }) =>
    rules
      .filter(({ candidate, shadow }) => candidate !== undefined || shadow === true)
      .map((rule) => {
        const own = seen.find((one) => one.policy === name && one.rule === rule.name)
        return shownCandidate(name, rule, own)
      }),
  )
  return { processes, complete, line: MAX_NEWLY_REFUSED, candidates: onTrial }
}

function shownCandidate(policy: string, rule: Rule, seen: SeenKeys | undefined): object {
  const counts = seen?.divergence ?? NONE
  const { bothAllow, bothRefuse, newlyRefused, newlyAllowed } = counts
  const requests = bothAllow + bothRefuse + newlyRefused + newlyAllowed
  const share = requests === 0 ? 0 : newlyRefused / requests
  const top = seen === undefined ? [] : shownKeys(seen.newlyRefused)
  const keys = Math.min(newlyRefused, seen?.newlyRefusedKeys ?? 0)
  const onTrial = limit(rule.candidate ?? rule.limit)
  const about = {
    policy,
    rule: rule.name,
    kind: rule.candidate === undefined ? 'shadow' : 'candidate',
    limit: rule.candidate === undefined ? null : limit(rule.limit),
    candidate: onTrial,
  }
  const effect = { requests, ...counts, share, aboveLine: share > MAX_NEWLY_REFUSED, keys, top }
  const worst = top[0]?.attributes
  const change =
    rule.candidate === undefined
      ? `enforce ${limitText(onTrial)}`
      : `${limitText(limit(rule.limit))} → ${limitText(onTrial)}`
  const name = `${visible(policy)}/${visible(rule.name)}`
  return { ...about, ...effect, sentence: `${name}: ${change}. ${effectText(effect, worst)}` }
}

function effectText(
  effect: {
    readonly requests: number
    readonly share: number
    readonly keys: number
    readonly newlyAllowed: number
    readonly aboveLine: boolean
  },
  worst: Readonly<Record<string, string>> | undefined,
): string {
  const { requests, share, keys, newlyAllowed, aboveLine } = effect
  if (requests === 0) return 'No request has tried it in the last hour.'
  const percent = `${Number((100 * share).toPrecision(2))} %`
  const who = `${keys} ${keys === 1 ? 'key' : 'keys'}`
  const named = Object.entries(worst ?? {}).map(
    ([name, value]) => `${visible(name)}=${visible(value)}`,
  )
  const last = named.length === 0 ? '' : `, worst: ${named.join(' ')}`
  const side = aboveLine ? 'above' : 'below'
  return `Flip now: ${percent} of ${requests.toLocaleString('en')} requests and ${who} newly refused${last}; ${newlyAllowed.toLocaleString('en')} newly allowed. This is ${side} the ${100 * MAX_NEWLY_REFUSED} % line.`
}
