// What must hold after every event, whatever has happened, and what is written down of it.
import type { Decision } from '../../src/decision/decision.ts'
import type { Limiter } from '../../src/limiter/limiter.ts'
import type { Limit } from '../../src/limit/limit.ts'
import type { Millis } from '../../src/time/clock.ts'
import { TIMEOUT, type Pod } from './pod.ts'
import type { Server } from './server.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A request to a key of its own, and how it was answered. */
interface Once {
  readonly pod: Pod
  readonly asked: Millis
  readonly degraded: boolean
  readonly allowed: boolean
  /** What it was asked of; once that is closed, nothing is handed back any more. */
  readonly limiter: Limiter
}

/** Watches a fleet. */
export class Oracle {
  readonly broken: string[] = []
  /** A line for every answer. */
  readonly trace: string[] = []
  private readonly world: VirtualTime
  private readonly server: Server
  private readonly began: Millis
  private largest: Limit
  private byStore = 0
  private readonly byPod = new Map<Pod, number>()
  private readonly dead = new Set<Pod>()
  private readonly once = new Map<string, Once>()

  constructor(world: VirtualTime, server: Server, limit: Limit) {
    this.world = world
    this.server = server
    this.began = world.now
    this.largest = limit
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

  async watch(pod: Pod, key: string, answer: Promise<Decision>): Promise<Decision | undefined> {
    const asked = this.world.now
    const began = asked - pod.stoppedFor
    const { limiter } = pod
    try {
      const decision = await answer
      if (this.dead.has(pod)) return undefined
      this.answered(pod, key, this.world.now - pod.stoppedFor - began, decision)
      if (key !== 'hot') {
        const { degraded, allowed } = decision
        this.once.set(key, { pod, asked, degraded, allowed, limiter })
      }
      return decision
    } catch (error) {
      if (!this.dead.has(pod))
        this.broken.push(`${this.when()}: ${pod.name}, ${key}: ${String(error)}`)
      return undefined
    }
  }

  private answered(
    pod: Pod,
    key: string,
    waited: Millis,
    { allowed, degraded, cause }: Decision,
  ): void {
    this.trace.push(`${this.when()} ${pod.name} ${key} ${allowed} ${cause ?? 'store'} ${waited}`)
    if (waited > TIMEOUT) this.broken.push(`${this.when()}: ${pod.name} waited ${waited} ms`)
    if (key !== 'hot' || !allowed) return
    if (degraded) this.byPod.set(pod, (this.byPod.get(pod) ?? 0) + 1)
    else this.byStore += 1
    this.checkBounds()
  }

  /** L, with what time has given since and one more for each loss, from the store; F from each pod. */
  private checkBounds(): void {
    const { renewals, strays } = this.server
    const { quota } = this.largest
    const most = this.bound(quota) + renewals * quota + strays
    if (this.byStore > most)
      this.broken.push(`${this.when()}: the store admitted ${this.byStore}, at most ${most}`)
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
      const isSet = this.server.renewals > 0
      const windows = Math.floor(this.world.now / window) - Math.floor(this.began / window)
      return quota * (isSet ? Math.floor(elapsed / window) + 2 : windows + 1)
    }
    if (algorithm === 'sliding-log') return quota * (Math.floor(elapsed / window) + 1)
    return quota + Math.floor((quota * elapsed) / window)
  }

  /** When nothing is on its way any more: nobody was charged twice, late, or for an answer that was not the store's. */
  checkCharges(pods: readonly Pod[]): void {
    const all = [...pods, ...this.dead]
    const sum = (key: string, of: 'unheard' | 'twice'): number =>
      all.reduce((units, { link }) => units + (link[of].get(key) ?? 0), 0)
    for (const [key, { pod, asked, degraded, allowed, limiter }] of this.once) {
      const charge = this.server.charges.get(key)
      const taken = charge?.taken ?? 0
      const net = taken - (charge?.given ?? 0)
      // Handed back in vain, or not at all: the store was gone again, the limiter closed, the process dead.
      const inVain = (pod.gifts.get(key) ?? 0) - (charge?.given ?? 0)
      const kept = limiter === pod.limiter && !this.dead.has(pod) ? Math.max(0, inVain) : 1
      const expected = degraded ? sum(key, 'unheard') + kept : allowed ? 1 : 0
      if (net > expected + sum(key, 'twice'))
        this.broken.push(`${key}: charged ${net}, expected ${expected}, degraded ${degraded}`)
      if (!degraded && allowed && net < 1)
        this.broken.push(`${key}: allowed by the store, not charged`)
      const late = (charge?.at ?? 0) - asked - TIMEOUT
      if (late > 0 && this.server.setBacks === 0)
        this.broken.push(`${key}: charged ${late} ms after its deadline`)
    }
  }

  private when(): string {
    return `+${this.world.now - this.began}`
  }
}
