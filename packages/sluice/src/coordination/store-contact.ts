// Whether the store still has its record of what is out: it has answered within one life, and is the one that it was.

/** Contact with one record of the store. A long lease of that record is spent while the contact lasts. */
export interface Contact {
  /** The instant of the lease clock at which it ends. Each answer moves it; -Infinity once the record may be lost. */
  until: number
}

/** Of leases that need none: they end before a store that lost its record grants anything. */
export const NO_CONTACT_NEEDED: Contact = { until: Infinity }

/** Follows the epochs that the store answers with. */
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
  heard(epoch: number | undefined, until: number): void {
    if (epoch === undefined) return
    if (epoch !== this.epoch) {
      this.contact.until = -Infinity
      this.contact = { until }
      this.epoch = epoch
    } else if (until > this.contact.until) this.contact.until = until
  }
}
