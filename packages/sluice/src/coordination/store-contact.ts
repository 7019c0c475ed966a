// Whether the store still has its record of the leases: it answered within one life, with the same epoch.

/** Contact with one record of the store. A long lease may be spent only while the contact of its record lasts. */
export interface Contact {
  /** The instant of the lease clock at which it ends. Each answer moves it; -Infinity once the record may be lost. */
  until: number
}

/** For leases that need no contact: they end before a store that lost its record grants anything. */
export const NO_CONTACT_NEEDED: Contact = { until: Infinity }

/** Compares the epochs in the answers of the store. */
export class StoreContact {
  private epoch: number | undefined
  private contact: Contact = { until: -Infinity }

  /** Whether the store reports that it may have lost its record. */
  get isKnown(): boolean {
    return this.epoch !== undefined
  }

  /** The contact with the present record. */
  get current(): Contact {
    return this.contact
  }

  /** The store answered a call that was sent one life before `until`. */
  noteAnswer(epoch: number | undefined, until: number): void {
    if (epoch === undefined) return
    if (epoch !== this.epoch) {
      this.contact.until = -Infinity
      this.contact = { until }
      this.epoch = epoch
    } else if (until > this.contact.until) this.contact.until = until
  }
}
