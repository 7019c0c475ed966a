// The seam between the search for keys and the stores that hold them.
import type { MaybePromise, Place } from 'sluice'

/** A place with the policy that counts there. */
export interface PolicyPlace extends Place {
  readonly policy: string
}

/** A key that a store holds. */
export interface FoundKey {
  readonly place: PolicyPlace
  /** Undefined when the store knows no more than a hash of it, which `name` is then. */
  readonly key: string | undefined
  readonly name: string
}

/** Some keys, how many were looked at, and where to go on; undefined at the end. */
export interface Look {
  readonly found: readonly FoundKey[]
  readonly looked: number
  readonly next: string | undefined
}

/** Looks through a store, a few keys at a time. */
export interface KeySource {
  /** What the first look begins with. */
  readonly start: string
  /** Looks once, from `at` on, for keys of some places; `text` narrows it where the store can. */
  look(places: readonly PolicyPlace[], at: string, text: string): MaybePromise<Look | undefined>
}
