// A remote store for descriptors that always answers: behind a breaker, with counts in this process as its stand-in.
import {
  memoryStore,
  SluiceError,
  type Attributes,
  type Check,
  type Clock,
  type Decision,
  type Limit,
  type Limiter,
  type MaybePromise,
  type MemoryStore,
  type OnStoreFailure,
  type Store,
  type Verdict,
} from 'sluice'
import { withBreaker, type OnEvent } from 'sluice/resilience'

/** Keys that the stand-in counts at most: about 10 MB. */
const MOST_KEYS = 100_000

/** What happens while the store cannot answer. */
export interface GuardOptions {
  /**
   * `local` counts in this process at a part of each limit, `open` lets everything through, `closed` fails the call,
   * so that the proxy does what its own failure mode says. Default `local`.
   */
  readonly onStoreFailure?: OnStoreFailure
  /** The part of every quota that this process grants by itself. Default 0.5. */
  readonly fallbackShare?: number
  /** Or how many processes share the limits. */
  readonly replicas?: number
  readonly onEvent?: OnEvent
  /** For tests: the time by which the stand-in counts. */
  readonly clock?: Clock
}

/** Guards a store that answers by promises; one in this process needs no guard and is given back as it is. */
export function guardedStore(store: Store, options: GuardOptions = {}): Store {
  return store.sync === true ? store : new GuardedStore(store, options)
}

class GuardedStore implements Store {
  private readonly store: Store
  private readonly mode: OnStoreFailure
  private readonly shareOf: (units: number) => number
  private readonly counts: MemoryStore
  private readonly breaker: Limiter
  private readonly onEvent: OnEvent | undefined

  constructor(store: Store, options: GuardOptions) {
    const { onStoreFailure = 'local', fallbackShare = 0.5, replicas, onEvent, clock } = options
    this.store = store
    this.counts = memoryStore({ maxKeys: MOST_KEYS, ...(clock && { clock }) })
    this.mode = onStoreFailure
    this.onEvent = onEvent
    this.shareOf = (units) =>
      Math.floor(replicas === undefined ? units * fallbackShare + 1e-6 : units / replicas)
    this.breaker = withBreaker(posingAsLimiter(store), onEvent === undefined ? {} : { onEvent })
  }

  take(checks: readonly Check[]): Promise<readonly Verdict[]> {
    return this.guarded('check', checks)
  }

  peek(checks: readonly Check[]): Promise<readonly Verdict[]> {
    return this.guarded('peek', checks)
  }

  /** To whoever can take it: what the stand-in does not know it drops. */
  async refund(checks: readonly Check[]): Promise<void> {
    this.counts.refund(this.scaled(checks))
    try {
      await this.breaker.refund(posing(checks))
    } catch {
      // The units stay charged until time gives them back; nobody can do more about it than that.
    }
  }

  async reset(checks: readonly Check[]): Promise<void> {
    this.counts.reset(checks)
    await this.store.reset(checks)
  }

  async close(): Promise<void> {
    this.counts.close()
    await this.store.close()
  }

  private async guarded(
    operation: 'check' | 'peek',
    checks: readonly Check[],
  ): Promise<readonly Verdict[]> {
    try {
      return verdictsOf(await this.breaker[operation](posing(checks)))
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code.startsWith('invalid-')) throw error
      if (this.mode === 'closed') throw error
      this.onEvent?.({ type: 'fallback', at: Date.now(), operation, cause: error.code })
      if (this.mode === 'open') return checks.map(passed)
      const local = this.scaled(checks)
      return operation === 'check' ? this.counts.take(local) : this.counts.peek(local)
    }
  }

  private scaled(checks: readonly Check[]): readonly Check[] {
    return checks.map((check) => ({ ...check, limit: this.scaledLimit(check.limit) }))
  }

  private scaledLimit(limit: Limit): Limit {
    return { ...limit, quota: this.shareOf(limit.quota), burst: this.shareOf(limit.burst) }
  }
}

/** Nothing is counted, so everything is left. */
function passed({ limit }: Check): Verdict {
  const at = Date.now()
  const waits = { retryAfter: 0, resetAfter: 0, availableAfter: 0, delay: 0 }
  return { allowed: true, remaining: limit.burst, ...waits, at }
}

/**
 * Breakers guard limiters, so that a call to the store poses as one of a limiter: the checks travel as its
 * attributes and the verdicts as its decision, and the breaker looks into neither.
 */
function posingAsLimiter(store: Store): Limiter {
  const checksOf = (attributes: unknown): readonly Check[] => attributes as readonly Check[]
  const decided = async (verdicts: MaybePromise<readonly Verdict[]>): Promise<Decision> =>
    (await verdicts) as unknown as Decision
  return {
    check: (checks) => decided(store.take(checksOf(checks))),
    peek: (checks) => decided(store.peek(checksOf(checks))),
    refund: async (checks) => store.refund(checksOf(checks)),
    reset: async (checks) => store.reset(checksOf(checks)),
    close: async () => store.close(),
  }
}

function posing(checks: readonly Check[]): Attributes {
  return checks as unknown as Attributes
}

function verdictsOf(decision: Decision): readonly Verdict[] {
  return decision as unknown as readonly Verdict[]
}
