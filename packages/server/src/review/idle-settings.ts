// Settings that are allowed and change nothing: those of rules, and those of the whole file.
import { limit, type Rule } from 'sluice'
import type { Config } from '../config/config.ts'
import type { Step } from '../config/problem.ts'
import type { Trap } from './warning.ts'

/** The idle settings of one rule, which stands at `steps` in the file. */
export function idleInRule(rule: Rule, config: Config, steps: readonly Step[]): readonly Trap[] {
  const { name, lockout, shadow, onExceed, candidate, thresholds } = rule
  const traps: Trap[] = []
  const trap = (place: readonly Step[], message: string): void => {
    traps.push({ code: 'no-effect', steps: [...steps, ...place], message })
  }
  if (lockout?.upTo !== undefined && (lockout.grow ?? 1) === 1 && lockout.upTo !== lockout.for)
    trap(
      ['lockout', 'upTo'],
      `lockout.upTo of rule ${name} has no effect: all locks last as long as for says; write grow: 2 for locks that become longer, or leave upTo out`,
    )
  if (shadow === true && onExceed === 'mark')
    trap(
      ['onExceed'],
      `onExceed of rule ${name} has no effect: a shadow marks no request; leave shadow or onExceed out`,
    )
  if (candidate !== undefined && isSameLimit(rule.limit, candidate))
    trap(
      ['candidate'],
      `the limit on trial of rule ${name} is the limit itself, so that a trial shows nothing; write another one, or leave candidate out`,
    )
  if (thresholds !== undefined && (config.webhooks ?? []).length === 0)
    trap(
      ['thresholds'],
      `thresholds of rule ${name} have no effect: no webhook receives them; add webhooks, or leave thresholds out`,
    )
  return traps
}

function isSameLimit(a: Rule['limit'], b: NonNullable<Rule['candidate']>): boolean {
  return JSON.stringify(limit(a)) === JSON.stringify(limit(b))
}

/** The idle settings of the whole file. */
export function idleInFile({ store, failure, webhooks, policies }: Config): readonly Trap[] {
  const traps: Trap[] = []
  const trap = (steps: readonly Step[], message: string): void => {
    traps.push({ code: 'no-effect', steps, message })
  }
  if (store.kind === 'memory')
    for (const name of Object.keys(failure ?? {}))
      trap(
        ['failure', name],
        `failure.${name} has no effect on counts in memory: each instance grants every limit as a whole; use Redis, or divide the limits by the number of instances`,
      )
  const hasThresholds = policies.some(({ rules }) => rules.some(({ thresholds }) => thresholds))
  if ((webhooks ?? []).length > 0 && !hasThresholds)
    trap(
      ['webhooks'],
      'webhooks receive nothing: no rule has thresholds; write thresholds: [80, 100] in a rule',
    )
  return traps
}
