// Pods on one server, requests from everywhere, and an oracle that watches every answer.
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

/** A fleet as a seed makes it. */
export class Fleet {
  readonly world = new VirtualTime()
  readonly server = new Server(this.world)
  readonly oracle: Oracle
  pods: readonly Pod[]
  private readonly random: Random
  private readonly whole: Limit
  private policy: Policy
  private asked = 0
  private born = 0

  constructor(random: Random) {
    this.random = random
    const quota = random.whole(2, 12)
    const algorithm = random.pick(KINDS)
    this.whole = limit({ quota, window: random.pick(WINDOWS), algorithm })
    this.policy = policyOf(this.whole)
    this.oracle = new Oracle(this.world, this.server, this.whole)
    this.pods = Array.from({ length: random.whole(1, 4) }, () => this.bear())
  }

  /** One request from anywhere: to the key that everybody wants, or to a key of its own. */
  ask(pod: Pod = this.random.pick(this.pods)): Promise<Decision | undefined> {
    if (pod.isStopped) return Promise.resolve(undefined)
    const key = this.random.chance(0.7) ? 'hot' : `once ${this.asked}`
    this.asked += 1
    return this.oracle.watch(pod, key, pod.check(key))
  }

  restart(random: Random, keptUntil: Millis): { lasts: Millis; end: () => void } {
    this.server.crash()
    for (const pod of this.pods) pod.link.cut()
    const end = (): void => {
      this.server.restart(keptUntil)
      for (const pod of this.pods)
        this.world.at(this.world.now + random.whole(0, 300), () => pod.connect())
    }
    return { lasts: random.whole(0, 800), end }
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
    this.policy = policyOf(changed)
    for (const pod of this.pods) {
      this.world.at(this.world.now + this.random.whole(0, 50), () => pod.reload(this.policy))
    }
  }

  close(): void {
    for (const pod of this.pods) pod.close()
    this.oracle.closeDead()
    this.server.close()
  }

  private bear(): Pod {
    this.born += 1
    return new Pod(`pod ${this.born}`, this.policy, this.world, this.server, this.random)
  }
}

function policyOf(one: Limit): Policy {
  return { name: 'simulated', rules: [{ name: 'simulated', by: ['key'], limit: one }] }
}
