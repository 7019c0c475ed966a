// One lease: units of a count that this process may spend until their end.
import type { Millis } from '../time/clock.ts'
import { NO_CONTACT_NEEDED, type Contact } from './store-contact.ts'

/**
 * Units taken from the store in advance. Instants are those of the {@link LeaseClock}. What each spend reads stands first,
 * in one line of the processor's cache, and as whole numbers, which V8 keeps in the object.
 */
export interface Lease {
  /** Units that may still be spent. */
  left: number
  /** Units spent and not yet reported to the store. */
  spent: number
  /** From here on nothing may be spent. A whole number, rounded down. */
  end: number
  /** When units were last spent. A whole number, rounded up. */
  spentAt: number
  /** Nothing may be spent without it. */
  contact: Contact
  /** By how much the store's time is ahead of the lease clock, at least. */
  storeLead: number
  /** The name under which the store has recorded the units. */
  readonly id: string
  /** How often spent units were reported. */
  reports: number
  /** How long it may last if it has the long life of a few units; 0 if it has not. */
  longLife: Millis
  /** The store's time of the last grant. */
  grantedAt: number
  /** The earliest instant here that the last grant may correspond to. */
  sentAt: number
}

/** Before any instant, and kept in an object like other whole numbers. */
const LONG_AGO = -(2 ** 31)

/** No lease: nothing can be spent from it. */
export const NO_LEASE: Lease = {
  left: 0,
  spent: 0,
  end: LONG_AGO,
  spentAt: 0,
  contact: NO_CONTACT_NEEDED,
  storeLead: 0.5,
  id: '',
  reports: 0,
  longLife: 0,
  grantedAt: 0,
  sentAt: 0,
}
