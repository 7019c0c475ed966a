// One lease: units of a count that this process may spend until their end.
import type { Millis } from '../time/clock.ts'
import { NO_CONTACT_NEEDED, type Contact } from './store-contact.ts'

/** Units taken from the store in advance. Instants are those of the {@link LeaseClock}. */
export interface Lease {
  /** The name under which the store has recorded the units. */
  readonly id: string
  /** Units that may still be spent. */
  left: number
  /** Units spent and not yet reported to the store. */
  spent: number
  /** How often spent units were reported. */
  reports: number
  /** When units were last spent. */
  spentAt: number
  /** From here on nothing may be spent. */
  end: number
  /** Nothing may be spent without it. */
  contact: Contact
  /** How long it may last if it has the long life of a few units; 0 if it has not. */
  longLife: Millis
  /** The store's time of the last grant, and the latest instant here that it may correspond to. */
  grantedAt: number
  answeredAt: number
  /** The earliest instant here that the last grant may correspond to. */
  sentAt: number
}

/** No lease: nothing can be spent from it. */
export const NO_LEASE: Lease = {
  id: '',
  left: 0,
  spent: 0,
  reports: 0,
  spentAt: 0,
  end: -Infinity,
  contact: NO_CONTACT_NEEDED,
  longLife: 0,
  grantedAt: 0,
  answeredAt: 0,
  sentAt: 0,
}
