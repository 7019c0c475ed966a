// What operators have set while the service runs: blocks and overrides, and the seam to where they are kept.
import { createHash } from 'node:crypto'
import type { Condition, LimitOrNone, Millis } from 'sluice'

/** What blocks and overrides have in common. Instants are by this process's clock. */
interface Common {
  /** The same for the same policy and attributes, so that setting one again replaces it. */
  readonly id: string
  readonly since: Millis
  /** What the operator said about it, '' for nothing. */
  readonly note: string
  /** The name of the token that set it. */
  readonly by: string
}

/** Refuses every request that has all of these attributes, until an instant. */
export interface Block extends Common {
  readonly kind: 'block'
  /** Null: every policy, and every domain of descriptors. */
  readonly policy: string | null
  readonly attributes: Readonly<Record<string, string>>
  readonly until: Millis
}

/** Another limit for some requests of a rule; it takes precedence over the overrides of the file. */
export interface LiveOverride extends Common {
  readonly kind: 'override'
  readonly policy: string
  readonly rule: string
  readonly when: Condition
  readonly limit: LimitOrNone
  /** Null: until it is removed. */
  readonly until: Millis | null
}

/** A block or an override. */
export type Control = Block | LiveOverride

/** One that is about to be set: its instants follow from when it arrives where it is kept. */
export type NewControl = Omit<Block, 'since' | 'until'> | Omit<LiveOverride, 'since' | 'until'>

/** Whether a block holds for every request with some attributes: they have all that the block names. */
export function isBlockOf({ attributes }: Block, key: Readonly<Record<string, string>>): boolean {
  const names = Object.entries(attributes)
  return names.length > 0 && names.every(([name, value]) => key[name] === value)
}

/** Blocks and overrides at once, at most. */
export const MOST_CONTROLS = 5000

/** Where blocks and overrides are kept: in this process, or where every instance finds them. */
export interface ControlStore {
  /** Everything that holds now. Undefined when nothing was set or removed since the last call. */
  read(): Promise<readonly Control[] | undefined>
  /** Sets one for so many milliseconds, null for no end; gives false when there is no room. */
  put(control: NewControl, duration: Millis | null): Promise<boolean>
  /** Removes one; gives whether it was there. */
  remove(id: string): Promise<boolean>
}

/** An id that is the same for the same parts. */
export function controlId(kind: Control['kind'], parts: readonly unknown[]): string {
  const text = JSON.stringify([kind, ...parts], sorted)
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}

/** Objects with their members in one order. */
function sorted(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members)
}
