// What must hold after every event, whatever has happened, and what is written down of it.
import type { Decision } from '../../src/decision/decision.ts'
import type { Limit } from '../../src/limit/limit.ts'
import type { Millis } from '../../src/time/clock.ts'
import { TIMEOUT, type Pod } from './pod.ts'
import type { Server } from './server.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Milliseconds of a window in which no unit comes back before all is checked. */
const LASTING: Millis = 600_000

/** A request to counts of its own, and how it was answered. */
interface Once {
  readonly pod: Pod
  readonly asked: Millis
  readonly degraded: boolean
  readonly allowed: boolean
  /** Until when its charge was in time, if that is later than its deadline. */
  readonly answered: Millis
  /** The keys that it charges. */
  readonly keys: readonly string[]
}

/** Watches a fleet. */
export class Oracle {
  readonly broken: string[] = []
  /** A line for every answer. */
  readonly trace: string[] = []
  private readonly world: VirtualTime
  private readonly servers: readonly Server[]
  private readonly began: Millis
  /** All requests together are limited to so many times the limit of one key; 0: they are not. */
  private readonly everyone: number
  private readonly first: Limit
  private largest: Limit
  /** Admitted by the store: requests for the hot key, and all. */
  private hotByStore = 0
  private allByStore = 0
  private readonly byPod = new Map<Pod, number>()
  private readonly dead = new Set<Pod>()
  private readonly wasAnswered = new Set<Pod>()
  private readonly once: Once[] = []

  constructor(world: VirtualTime, servers: readonly Server[], limit: Limit, everyone: number) {
    this.world = world
    this.servers = servers
    this.began = world.now
    this.first = limit
    this.largest = limit
    this.everyone = everyone
  }

  /** Another limit is in force from now on; the largest so far bounds them all. */
  allow(limit: Limit): void {
    if (limit.quota > this.largest.quota) this.largest = limit
  }

  bury(pod: Pod): void {
    this.dead.add(pod)
  }

  closeDead(): void {
    for (const pod of this.dead) pod.close()
  }

  /** Watches a request for the hot key, or the one-shot request of that number. */
  async watch(
    pod: Pod,
    number: number | undefined,
    answer: Promise<Decision>,
  ): Promise<Decision | undefined> {
    const asked = this.world.now
    const began = asked - pod.stoppedFor
    const isFirst = this.servers.length === 1 && !this.wasAnswered.has(pod)
    try {
      const decision = await answer
      if (this.dead.has(pod)) return undefined
      const waited = this.world.now - pod.stoppedFor - began
      this.answered(pod, number, { asked, waited, isFirst }, decision)
      return decision
    } catch (error) {
      if (!this.dead.has(pod)) this.broken.push(`${this.when()}: ${pod.name}: ${String(error)}`)
      return undefined
    }
  }

  private answered(
    pod: Pod,
    number: number | undefined,
    { asked, waited, isFirst }: { asked: Millis; waited: Millis; isFirst: boolean },
    decision: Decision,
  ): void {
    const { allowed, degraded, cause, outcomes } = decision
    const name = number === undefined ? 'hot' : `once ${number}`
    this.trace.push(`${this.when()} ${pod.name} ${name} ${allowed} ${cause ?? 'store'} ${waited}`)
    if (waited > TIMEOUT) this.broken.push(`${this.when()}: ${pod.name} waited ${waited} ms`)
    if (number !== undefined) {
      const keys =
        outcomes.length > 1 && outcomes.some(({ rule }) => rule === 'requests')
          ? [`once ${number}`, `request ${number}`]
          : [`once ${number}`]
      const answered = isFirst ? this.world.now : asked
      this.once.push({ pod, asked, degraded, allowed, answered, keys })
    }
    if (!degraded) this.wasAnswered.add(pod)
    if (!allowed) return
    if (!degraded) this.allByStore += 1
    if (number === undefined) {
      if (degraded) this.byPod.set(pod, (this.byPod.get(pod) ?? 0) + 1)
      else this.hotByStore += 1
    }
    this.checkBounds()
  }

  /** L, with what time has given since and one more for each loss, from the store; F from each pod. */
  private checkBounds(): void {
    const sum = (of: 'renewals' | 'strays'): number =>
      this.servers.reduce((all, server) => all + server[of], 0)
    const { quota } = this.largest
    const most = (units: number): number =>
      this.bound(units) + sum('renewals') * units + sum('strays')
    if (this.hotByStore > most(quota))
      this.broken.push(
        `${this.when()}: the store admitted ${this.hotByStore}, at most ${most(quota)}`,
      )
    const all = this.everyone * this.first.quota
    if (all > 0 && this.allByStore > most(all))
      this.broken.push(`${this.when()}: ${this.allByStore} in all, at most ${most(all)}`)
    const share = this.bound(Math.max(1, Math.floor(quota / 2)))
    for (const [pod, count] of this.byPod)
      if (count > share)
        this.broken.push(
          `${this.when()}: ${pod.name} admitted ${count} by itself, at most ${share}`,
        )
  }

  /** The most that a limit of this quota admits from the beginning until now. */
  private bound(quota: number): number {
    const { algorithm, window } = this.largest
    const elapsed = this.world.now - this.began
    if (algorithm === 'fixed-window') {
      // A clock that was set has its windows at other moments.
      const isSet = this.servers.some(({ renewals }) => renewals > 0)
      const windows = Math.floor(this.world.now / window) - Math.floor(this.began / window)
      return quota * (isSet ? Math.floor(elapsed / window) + 2 : windows + 1)
    }
    if (algorithm === 'sliding-log') return quota * (Math.floor(elapsed / window) + 1)
    return quota + Math.floor((quota * elapsed) / window)
  }

  /** When nothing is on its way any more: nobody was charged twice, late, in part, or for an answer of the fallback. */
  checkCharges(pods: readonly Pod[]): void {
    const all = [...pods, ...this.dead]
    // Over several nodes, each call has a deadline of its own; what comes after that of the request is refunded.
    const patience = this.servers.length > 1 ? 2 * TIMEOUT : TIMEOUT
    for (const { pod, asked, degraded, allowed, answered, keys } of this.once) {
      const lost = (of: 'unheard' | 'twice', key: string): number =>
        all.reduce((units, { network }) => units + (network[of].get(key) ?? 0), 0)
      for (const key of keys) {
        const charges = this.servers.flatMap((server) => server.charges.get(key) ?? [])
        const taken = charges.reduce((units, charge) => units + charge.taken, 0)
        const net = charges.reduce((units, charge) => units - charge.given, taken)
        // A process that died takes the refunds that it owed with it. Short windows give the units back before.
        const isShort = key.startsWith('once') && this.first.window < LASTING
        const owed = this.dead.has(pod) || isShort ? 1 : 0
        const expected = !degraded && allowed ? 1 : lost('unheard', key) + owed
        if (net > expected + lost('twice', key))
          this.broken.push(`${key}: charged ${net}, expected ${expected}, degraded ${degraded}`)
        if (!degraded && allowed && net < 1)
          this.broken.push(`${key}: allowed by the store, not charged`)
        const inTime = Math.max(asked + patience, answered)
        const late = Math.max(0, ...charges.map(({ at }) => at)) - inTime
        if (late > 0 && this.servers.every(({ setBacks }) => setBacks === 0))
          this.broken.push(`${key}: charged ${late} ms after its deadline`)
      }
    }
  }

  private when(): string {
    return `+${this.world.now - this.began}`
  }
}
