// The seam between the search for keys and the stores that hold them.
import type { MaybePromise } from 'sluice'

/** Where some keys live. */
export interface KeyPlace {
  readonly space: string
}

/** A key that a store holds. */
export interface FoundKey<P extends KeyPlace> {
  readonly place: P
  /** Undefined if the store has only a hash of the key; `name` is then that hash. */
  readonly key: string | undefined
  readonly name: string
}

/** Some keys, how many were looked at, and where to go on; undefined at the end. */
export interface Look<P extends KeyPlace> {
  readonly found: readonly FoundKey<P>[]
  readonly looked: number
  readonly next: string | undefined
}

/** Looks through a store, a few keys at a time. */
export interface KeySource {
  /** What the first look begins with. */
  readonly start: string
  /** Looks once, from `at` on, for keys of some places; `text` narrows it where the store can. */
  look<P extends KeyPlace>(
    places: readonly P[],
    at: string,
    text: string,
  ): MaybePromise<Look<P> | undefined>
}
