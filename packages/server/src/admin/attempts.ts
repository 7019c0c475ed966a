// Limits failed attempts of each address, so that guessing tokens is slow and fills no log.
import { createLimiter, memoryStore, type SyncLimiter } from 'sluice'
import { clientAddress } from 'sluice/http'

const addresses = clientAddress()

/** Counts failed attempts. An address that has failed too often is answered 429 until it has waited. */
export class Attempts {
  private readonly store = memoryStore({ maxKeys: 10_000 })
  private readonly limiter: SyncLimiter = createLimiter({
    policy: { name: 'admin', rules: [{ name: 'failed-attempts', by: ['ip'], limit: '10/min' }] },
    store: this.store,
  })

  /** Milliseconds for which the address must wait; 0 when it may try. */
  waitOf(peer: string | undefined): number {
    const { allowed, retryAfter } = this.limiter.peek(attributesOf(peer))
    return allowed ? 0 : (retryAfter ?? 60_000)
  }

  failed(peer: string | undefined): void {
    this.limiter.check(attributesOf(peer))
  }

  close(): void {
    this.store.close()
  }
}

function attributesOf(peer: string | undefined): { ip: string } {
  return { ip: addresses.of(peer).ip ?? 'unknown' }
}
