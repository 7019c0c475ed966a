// Overrides and tiers of a rule that no request reaches: their condition contradicts the rule's own, or an override in front of them holds first.
import type { Condition, Pattern, Rule } from 'sluice'
import type { Step } from '../config/problem.ts'
import { canHoldTogether, covers, requiresAbsence, textsFor } from './patterns.ts'
import type { Trap } from './warning.ts'

/** The hidden overrides, tiers and limits of one rule, which stands at `steps` in the file. */
export function hiddenChoices(rule: Rule, steps: readonly Step[]): readonly Trap[] {
  const { name, when = {}, by, overrides = [], tiers } = rule
  const traps: Trap[] = []
  const trap = (place: readonly Step[], message: string): void => {
    traps.push({ code: 'never-chosen', steps: [...steps, ...place], message })
  }
  /** The attributes that every counted request has. */
  const counted: Condition = { ...Object.fromEntries(by.map((one) => [one, 'present'])), ...when }
  const earlier = new EarlierOverrides()
  for (const [i, override] of overrides.entries()) {
    const hiding = earlier.hidingAll({ ...counted, ...override.when })
    if (!canHoldTogether(when, override.when)) {
      const message = `override ${i + 1} of rule ${name} is never chosen: its condition contradicts the rule's own`
      trap(['overrides', i], message)
    } else if (hiding !== undefined) {
      const message = `override ${i + 1} of rule ${name} is never chosen: override ${hiding + 1} holds for the same requests and comes first; put override ${i + 1} in front of it`
      trap(['overrides', i], message)
    }
    earlier.add(i, override.when)
  }
  const forAll = earlier.hiding(counted)
  if (forAll !== undefined) {
    const message = `the limit of rule ${name} is never used: override ${forAll + 1} holds for every request that the rule counts`
    trap(['overrides', forAll], message)
  }
  if (tiers === undefined) return traps
  const { attribute, limits } = tiers
  const texts = requiresAbsence(when, attribute) ? [] : textsFor(when, attribute)
  for (const value of Object.keys(limits)) {
    const place = ['tiers', 'limits', value]
    const hiding = earlier.hiding({ ...counted, [attribute]: { equals: value } })
    if (texts !== undefined && !texts.includes(value))
      trap(
        place,
        `tier ${value} of rule ${name} is never chosen: the rule does not apply when ${attribute} is ${value}`,
      )
    else if (hiding !== undefined && hiding !== forAll)
      trap(
        place,
        `tier ${value} of rule ${name} is never chosen: override ${hiding + 1} holds for the same requests, and overrides come before tiers`,
      )
  }
  return traps
}

/** Overrides with more than exact values that are compared with later ones, at most: each costs a comparison. */
const MAX_WIDE = 200

/** The overrides in front of another one. Exact values of one attribute are looked up, however many there are. */
class EarlierOverrides {
  private readonly exact = new Map<string, number>()
  private readonly wide: (readonly [number, Condition])[] = []

  add(position: number, when: Condition): void {
    const [only, ...others] = Object.keys(when)
    const texts = only !== undefined && others.length === 0 ? textsFor(when, only) : undefined
    if (texts === undefined) {
      if (this.wide.length < MAX_WIDE) this.wide.push([position, when])
      return
    }
    for (const text of texts) {
      const key = `${only} ${text}`
      if (!this.exact.has(key)) this.exact.set(key, position)
    }
  }

  /** The same, where each value of a list may be hidden by another override: then the last of them. */
  hidingAll(narrow: Condition): number | undefined {
    const whole = this.hiding(narrow)
    if (whole !== undefined) return whole
    for (const [attribute, pattern] of Object.entries(narrow)) {
      if (!Array.isArray(pattern) || pattern.length > MAX_WIDE) continue
      const each = (pattern as readonly Pattern[]).map((one) =>
        this.hiding({ ...narrow, [attribute]: one }),
      )
      if (each.every((one) => one !== undefined))
        return each.reduce((last, one) => Math.max(last, one))
    }
    return undefined
  }

  /** The first override that holds for every request that meets a condition. */
  hiding(narrow: Condition): number | undefined {
    const found = this.wide.find(([, when]) => covers(when, narrow))?.[0]
    const exact = Object.keys(narrow).flatMap((attribute) => {
      const positions = (textsFor(narrow, attribute) ?? []).map((text) =>
        this.exact.get(`${attribute} ${text}`),
      )
      // Each value may be hidden by another override: the last of them is named.
      return positions.length > 0 && positions.every((one) => one !== undefined)
        ? [positions.reduce((last, one) => Math.max(last, one))]
        : []
    })
    return [...(found === undefined ? [] : [found]), ...exact].toSorted((a, b) => a - b)[0]
  }
}
