// A store that does not ask again at once what it was just refused: a storm of retries costs the server nothing.
import type { Verdict } from '../limit/verdict.ts'
import type { AsyncStore, Check, MaybePromise, KnownRefusal } from '../stores/store.ts'
import type { Clock, Millis } from '../time/clock.ts'
import { Recent } from './recent.ts'
import { Refusal } from './refusal.ts'

/** Refusals that are remembered at most, half as many of several checks each. About 10 MB. */
const MOST = 16_384

/** Sees what a take was answered, before whoever asked does; gives it back. */
export type See = (verdicts: readonly Verdict[]) => readonly Verdict[]

/** A store that lets somebody see its answers. A promise of our own around each of them would cost more than the rest of it. */
export interface SeenStore extends AsyncStore {
  take(checks: readonly Check[], see?: See): Promise<readonly Verdict[]>
}

/** What a remembering store works with. */
export interface RememberingParts {
  readonly store: SeenStore
  /** Milliseconds for which a refusal is answered from memory. */
  readonly hold: Millis
  /** Our own time, if it can be with parts of a millisecond. */
  readonly clock: Clock
  /** Whether the server may drop counts by itself: it is then reminded of those that we know to be spent. */
  readonly mayForget: () => boolean
  /** The store has answered. */
  readonly onAnswer: () => void
}

/**
 * Answers a request that was refused a moment ago from memory: for at most `hold`, never longer than the store
 * itself would refuse it if nothing but time passes, and for no smaller cost. What this process gives or
 * resets, or another limit, is seen at once; what others give or reset, after `hold` at the latest. Requests with a check that counts
 * refusals always go to the store.
 */
export class RememberingStore implements AsyncStore {
  private readonly parts: RememberingParts
  /** By the name of the request, and by that of the count that refused. */
  private readonly refusals = new Recent<Refusal>(MOST)
  /** Counts that may have gone down, and since which era: what was asked before has nothing to say of them any more. */
  private readonly lowered = new Map<string, number>()
  private era = 0
  /** The first era of which `lowered` still knows everything. */
  private firstEra = 0

  constructor(parts: RememberingParts) {
    this.parts = parts
  }

  take(checks: readonly Check[]): MaybePromise<readonly Verdict[]> {
    const { store, clock, onAnswer } = this.parts
    if (checks.length === 0) return store.take(checks)
    const now = clock()
    const refusal = this.refusals.isEmpty ? undefined : this.refusalOf(checks)
    let asked = checks
    if (refusal?.isAbout(checks) === true) {
      const isKnown = (check: Check): boolean => !this.isLoweredSince(refusal.era, check)
      const verdicts = this.fromMemory(refusal, checks, now, isKnown)
      if (verdicts !== undefined) return verdicts
      if (this.parts.mayForget()) asked = refusal.remind(checks, now, isKnown)
    }
    const { era } = this
    return store.take(asked, (verdicts) => {
      onAnswer()
      if (refusal !== undefined || isRefused(verdicts))
        this.note(checks, verdicts, { sentAt: now, era })
      return verdicts
    })
  }

  peek(checks: readonly Check[]): MaybePromise<readonly Verdict[]> {
    return this.parts.store.peek(checks)
  }

  refund(checks: readonly Check[]): Promise<void> {
    return this.forgetAround(checks, this.parts.store.refund(checks))
  }

  reset(checks: readonly Check[]): Promise<void> {
    return this.forgetAround(checks, this.parts.store.reset(checks))
  }

  knownRefusal(check: Check): KnownRefusal | undefined {
    return this.refusals.get(nameOf(check))?.verdictOn(check, this.parts.clock())
  }

  close(): MaybePromise<void> {
    this.refusals.clear()
    return this.parts.store.close()
  }

  private fromMemory(
    refusal: Refusal,
    checks: readonly Check[],
    now: Millis,
    isKnown: (check: Check) => boolean,
  ): readonly Verdict[] | undefined {
    const age = now - refusal.sentAt
    if (age < 0 || age >= this.parts.hold) return undefined
    if (checks.some(({ countRefused }) => countRefused === true)) return undefined
    return refusal.holds(checks, now, isKnown) ? refusal.verdicts(checks, now) : undefined
  }

  /** What is known of a request of the same counts; else, of one that one of its counts refused. */
  private refusalOf(checks: readonly Check[]): Refusal | undefined {
    const own = this.refusals.get(requestOf(checks))
    if (checks.length === 1 || own?.isAbout(checks) === true) return own
    let found: Refusal | undefined
    for (const check of checks) found ??= this.refusals.get(nameOf(check))
    return found
  }

  private note(
    checks: readonly Check[],
    verdicts: readonly Verdict[],
    sent: { readonly sentAt: Millis; readonly era: number },
  ): void {
    const { refusals } = this
    const request = requestOf(checks)
    const refusing = checks.find((check, i) => check.shadow !== true && !verdicts[i]!.allowed)
    const isKept = refusing !== undefined && !this.isLoweredSince(sent.era, refusing)
    if (!isKept) refusals.delete(request)
    if (checks.length > 1) for (const check of checks) refusals.delete(nameOf(check))
    if (!isKept) return
    const refusal = new Refusal(checks, verdicts, { ...sent, answeredAt: this.parts.clock() })
    refusals.set(request, refusal)
    if (checks.length > 1) refusals.set(nameOf(refusing), refusal)
  }

  /** Answers that were on their way when counts went down are not remembered, on whichever connection they come. */
  private async forgetAround(checks: readonly Check[], done: MaybePromise<void>): Promise<void> {
    this.forget(checks)
    try {
      await done
    } finally {
      this.forget(checks)
    }
  }

  /** Whether a count may have gone down by our own doing since an era. */
  private isLoweredSince(era: number, check: Check): boolean {
    if (this.lowered.size === 0) return era < this.firstEra
    return era < this.firstEra || (this.lowered.get(nameOf(check)) ?? 0) > era
  }

  private forget(checks: readonly Check[]): void {
    this.era += 1
    for (const check of checks) {
      const name = nameOf(check)
      this.refusals.delete(name)
      this.lowered.set(name, this.era)
    }
    if (this.lowered.size <= MOST) return
    this.lowered.clear()
    this.firstEra = this.era
  }
}

/** Not injective, which is no harm: a refusal knows what it is about. */
function nameOf({ space, key }: Check): string {
  return `${space} ${key}`
}

/** For one check the name of its count. */
function requestOf(checks: readonly Check[]): string {
  let name = nameOf(checks[0]!)
  for (let i = 1; i < checks.length; i++) name += `\n${nameOf(checks[i]!)}`
  return name
}

function isRefused(verdicts: readonly Verdict[]): boolean {
  for (const { allowed } of verdicts) if (!allowed) return true
  return false
}
