// Pods on one server or a cluster, requests from everywhere, and an oracle that watches every answer.
import type { Decision } from '../../src/decision/decision.ts'
import { limit, type AlgorithmName, type Limit } from '../../src/limit/limit.ts'
import type { Policy } from '../../src/policy/policy.ts'
import type { Millis } from '../../src/time/clock.ts'
import type { Random } from '../redis/random.ts'
import { Oracle } from './oracle.ts'
import { Pod } from './pod.ts'
import { Server } from './server.ts'
import { VirtualTime } from './virtual-time.ts'

const KINDS: readonly AlgorithmName[] = ['token-bucket', 'fixed-window', 'sliding-log', 'gcra']
const WINDOWS: readonly Millis[] = [1000, 10_000, 600_000]
const NODES = 3
/** The limit of all requests together is so many times that of one key. */
const EVERYONE = 4

/** A fleet as a seed makes it. */
export class Fleet {
  readonly world = new VirtualTime()
  readonly servers: readonly Server[]
  readonly oracle: Oracle
  pods: readonly Pod[]
  private readonly random: Random
  private readonly whole: Limit
  /** Which rules there are beside the one of the hot key. */
  private readonly has: { readonly requests: boolean; readonly everyone: boolean }
  private policy: Policy
  private asked = 0
  private born = 0

  constructor(random: Random) {
    this.random = random
    const evicts = random.chance(0.2)
    this.servers = Array.from(
      { length: random.chance(0.3) ? NODES : 1 },
      () => new Server(this.world, evicts),
    )
    const quota = random.whole(2, 12)
    const algorithm = random.pick(KINDS)
    this.whole = limit({ quota, window: random.pick(WINDOWS), algorithm })
    this.has = { requests: random.chance(0.5), everyone: random.chance(0.3) }
    this.policy = this.policyOf(this.whole)
    this.oracle = new Oracle(this.world, this.servers, this.whole, this.has.everyone ? EVERYONE : 0)
    this.pods = Array.from({ length: random.whole(1, 4) }, () => this.bear())
  }

  /** One request from anywhere: to the key that everybody wants, or to counts of its own. */
  ask(pod: Pod = this.random.pick(this.pods)): Promise<Decision | undefined> {
    if (pod.isStopped) return Promise.resolve(undefined)
    const number = this.asked++
    if (this.random.chance(0.7)) return this.oracle.watch(pod, undefined, pod.check({ key: 'hot' }))
    const attributes = { key: `once ${number}`, request: `request ${number}` }
    return this.oracle.watch(pod, number, pod.check(attributes))
  }

  /** A server ends, and comes back with what it did until an instant. */
  restart(server: Server, lasts: Millis, keptUntil: Millis): { lasts: Millis; end: () => void } {
    server.crash()
    for (const { network } of this.pods) network.cut(server)
    return { lasts, end: () => server.restart(keptUntil) }
  }

  /** A process dies with all it knew, and another takes its place. */
  replace(pod: Pod): void {
    pod.stop()
    this.oracle.bury(pod)
    this.pods = this.pods.map((other) => (other === pod ? this.bear() : other))
  }

  /** Another quota for everybody, one after the other. */
  reload(factor: number): void {
    const quota = Math.max(1, Math.floor(this.whole.quota * factor))
    const changed = limit({ ...this.whole, quota, burst: quota })
    this.oracle.allow(changed)
    this.policy = this.policyOf(changed)
    for (const pod of this.pods) {
      this.world.at(this.world.now + this.random.whole(0, 50), () => pod.reload(this.policy))
    }
  }

  close(): void {
    for (const pod of this.pods) pod.close()
    this.oracle.closeDead()
  }

  private bear(): Pod {
    this.born += 1
    return new Pod(`pod ${this.born}`, this.policy, this.world, this.servers, this.random)
  }

  private policyOf(one: Limit): Policy {
    const { window, algorithm } = this.whole
    const all = limit({ quota: EVERYONE * this.whole.quota, window, algorithm })
    const rules = [{ name: 'keys', by: ['key'], limit: one }]
    if (this.has.requests) rules.push({ name: 'requests', by: ['request'], limit: limit('5/d') })
    if (this.has.everyone) rules.push({ name: 'everyone', by: [], limit: all })
    return { name: 'simulated', rules }
  }
}
