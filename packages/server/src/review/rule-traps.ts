// Traps within one rule: it never applies, it counts raw paths, its cost never fits, or its windows are not the intended ones.
import { limit, type Rule } from 'sluice'
import type { Step } from '../config/problem.ts'
import { hiddenChoices } from './hidden-choices.ts'
import { requiresAbsence } from './patterns.ts'
import { limitsOf } from './rule-limits.ts'
import type { Trap } from './warning.ts'

/** The traps of one rule, which stands at `steps` in the file. */
export function trapsOfRule(rule: Rule, steps: readonly Step[]): readonly Trap[] {
  return [
    ...neverApplies(rule, steps),
    ...hiddenChoices(rule, steps),
    ...fixedCost(rule, steps),
    ...rawPath(rule, steps),
    ...loginWindow(rule, steps),
    ...fixedZone(rule, steps),
  ]
}

function neverApplies({ name, when = {}, by }: Rule, steps: readonly Step[]): readonly Trap[] {
  const missing = by.find((attribute) => requiresAbsence(when, attribute))
  if (missing === undefined) return []
  const message = `rule ${name} can never apply: it counts by ${missing}, and only when ${missing} is absent; take ${missing} out of by, or out of when`
  return [{ code: 'never-applies', steps: [...steps, 'by'], message }]
}

/** Costs with which a limit never refuses, or always. */
function fixedCost(rule: Rule, steps: readonly Step[]): readonly Trap[] {
  const { name, cost, weights } = rule
  const trap = (field: string, message: string): readonly Trap[] => [
    { code: 'fixed-cost', steps: [...steps, field], message },
  ]
  if (
    weights !== undefined &&
    ['input', 'cached', 'output'].every((kind) => weights[kind as 'input'] === 0)
  )
    return trap('weights', `rule ${name} never charges a token: all weights are 0`)
  if (cost === 0)
    return trap('cost', `rule ${name} never refuses a request: each costs 0; leave cost out`)
  if (typeof cost !== 'number') return []
  return limitsOf(rule).flatMap(({ input, what, place }) => {
    if (input === 'unlimited') return []
    const { burst } = limit(input)
    // A limit of 0 closes a rule on purpose.
    if (cost <= burst || burst === 0) return []
    const isOwn = what === 'the limit'
    const message = `${what} of rule ${name} refuses every request: each costs ${cost}, and there are never more than ${burst} units; raise ${isOwn ? 'burst' : 'it'}, or lower cost`
    return [
      { code: 'fixed-cost' as const, steps: [...steps, ...(isOwn ? ['cost'] : place)], message },
    ]
  })
}

const RAW_PATHS = ['path', 'rawpath', 'uri', 'url', 'originalurl', 'requesturi', 'requestpath']

function rawPath({ name, by }: Rule, steps: readonly Step[]): readonly Trap[] {
  return by.flatMap((attribute, i) => {
    if (!RAW_PATHS.includes(attribute.toLowerCase().replaceAll(/[^a-z]/g, ''))) return []
    const message = `rule ${name} counts by ${attribute}: every different path gets a count of its own, and a client escapes by changing it; count by route, the template such as /orders/{id}`
    return [{ code: 'raw-path' as const, steps: [...steps, 'by', i], message }]
  })
}

const LOGIN = /log-?in|sign-?in|auth|passw|otp|2fa|mfa|token|session/i

function loginWindow(rule: Rule, steps: readonly Step[]): readonly Trap[] {
  const { name, when = {} } = rule
  const routes = ['route', 'path', 'operation'].flatMap((attribute) =>
    Object.hasOwn(when, attribute) ? [JSON.stringify(when[attribute])] : [],
  )
  if (![name, ...routes].some((text) => LOGIN.test(text))) return []
  return limitsOf(rule).flatMap(({ input, place }) => {
    if (input === 'unlimited') return []
    const { algorithm, quota, slots } = limit(input)
    if (algorithm !== 'fixed-window' || slots === true) return []
    const message = `rule ${name} guards a login by a fixed window: around the window's edge ${2 * quota} attempts pass at once; use sliding-log, which lets ${quota} pass in any window`
    return [{ code: 'login-window' as const, steps: [...steps, ...place], message }]
  })
}

/** Zones without summer time whose names promise it, and one that has it. */
const WITHOUT_SUMMER: Readonly<Record<string, string>> = {
  EST: 'America/New_York',
  MST: 'America/Denver',
  HST: 'Pacific/Honolulu',
}

/** Time zones that differ from what their names suggest: the signs of Etc/GMT zones are inverted. */
function fixedZone(rule: Rule, steps: readonly Step[]): readonly Trap[] {
  return limitsOf(rule).flatMap(({ input, place }) => {
    if (typeof input !== 'object' || input.timeZone === undefined) return []
    const why = zoneProblem(input.timeZone)
    if (why === undefined) return []
    const message = `rule ${rule.name} has windows of the time zone ${input.timeZone}, ${why}`
    return [{ code: 'fixed-zone' as const, steps: [...steps, ...place, 'timeZone'], message }]
  })
}

function zoneProblem(zone: string): string | undefined {
  const [, sign, hours = ''] = /^Etc\/GMT([+-])(\d+)$/i.exec(zone) ?? []
  if (sign !== undefined && hours !== '0')
    return `which is ${hours} hours ${sign === '+' ? 'behind' : 'ahead of'} UTC, and has no summer time; write the zone of a place, such as Europe/Berlin`
  const place = Object.hasOwn(WITHOUT_SUMMER, zone) ? WITHOUT_SUMMER[zone] : undefined
  return place === undefined
    ? undefined
    : `which has no summer time; write the zone of a place, such as ${place}`
}
