// What filled a count: which routes, sub-keys and costs took its units, in this window and the one before.
import type { Attributes, Millis } from 'sluice'
import { keptKey, ownText } from './keys.ts'
import { SpaceSaving, mergeTops, spreadOf } from './space-saving.ts'

/** Kinds of requests that are kept apart for one key. */
const KINDS = 6
/** Attributes that describe a request, and characters of each. */
const MAX_ATTRIBUTES = 4
const MAX_CHARACTERS = 40

/** One kind of request, and the units it took. */
export interface FilledBy {
  /** Such as `{"route":"/export","method":"POST"}`: attributes besides those of the key. */
  readonly attributes: Readonly<Record<string, string>>
  /** Units that one such request costs. */
  readonly cost: number
  /** Units taken in the last one to two windows; at most `error` of them were of another kind. */
  readonly units: number
  readonly error: number
  /** How far a sampled count may be off besides; 0 if every request was looked at. */
  readonly spread: number
}

type Kind = Pick<FilledBy, 'attributes' | 'cost'>

/** A request that took units; a sampled one counts as `weight` requests. */
export interface FillingRequest {
  readonly attributes: Attributes
  /** The attributes that make the key. */
  readonly by: readonly string[]
  readonly cost: number
  readonly weight: number
  readonly window: Millis
  /** The share of the limit that is used after it, from 0 to 1. */
  readonly used: number
}

/** The requests that took units of one key. */
export class Fill {
  private now = newKinds()
  private before: SpaceSaving<Kind> | undefined
  private start: Millis
  /** Of the last request: the share that was used after it, the window of its limit, and when it was. */
  private used = 0
  private window: Millis = 1
  private lastAt: Millis

  constructor(start: Millis) {
    this.start = start
    this.lastAt = start
  }

  /** The share of the limit that was used last, less the part of a window that has passed since. */
  fullness(now: Millis): number {
    return this.used - (now - this.lastAt) / this.window
  }

  /** Adds a request. */
  note(request: FillingRequest, now: Millis): void {
    const { attributes, by, cost, weight, window } = request
    this.used = request.used
    this.window = Math.max(1, window)
    this.lastAt = now
    if (now - this.start >= window) {
      this.before = now - this.start < 2 * window ? this.now : undefined
      this.now = newKinds()
      this.start = now
    }
    const kind = kindOf(attributes, by)
    this.now.add(
      keptKey(`${cost} ${JSON.stringify(kind)}`),
      cost,
      { attributes: kind, cost },
      weight,
    )
  }

  list(): readonly FilledBy[] {
    const tops = this.before === undefined ? [this.now.top()] : [this.now.top(), this.before.top()]
    return mergeTops(tops, KINDS).entries.map((entry) => {
      const { about, count, error } = entry
      return { ...about, units: count, error, spread: spreadOf(entry) }
    })
  }
}

function newKinds(): SpaceSaving<Kind> {
  return new SpaceSaving(KINDS, (kind) => kind)
}

/** What describes a request besides its key: route and method first. */
function kindOf(attributes: Attributes, by: readonly string[]): Readonly<Record<string, string>> {
  const kind: Record<string, string> = {}
  const names = ['route', 'method']
  for (const name in attributes) names.push(name)
  let count = 0
  for (const name of names) {
    const value = attributes[name]
    if (count >= MAX_ATTRIBUTES) break
    if (value === undefined || by.includes(name) || name in kind) continue
    if (name.length > MAX_CHARACTERS) continue
    kind[name] = ownText(String(value).slice(0, MAX_CHARACTERS))
    count += 1
  }
  return kind
}
