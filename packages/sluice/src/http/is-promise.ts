// Tells promises from values, so that synchronous answers cost no promise.
import type { MaybePromise } from '../stores/store.ts'

/** A promise of any library or realm. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}
