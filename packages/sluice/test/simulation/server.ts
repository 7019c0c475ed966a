// A simulated server: counts behind a clock that can be set, writes that can be lost, hangs, and scripts to be loaded.
import { TAKE_ALL, TAKE_BUCKETS, TAKE_EACH } from '../../src/redis/script.generated.ts'
import type { Millis } from '../../src/time/clock.ts'
import { Counts } from './counts.ts'
import type { VirtualTime } from './virtual-time.ts'
import { readCall } from './wire.ts'

/** What a client sends: a script by its text, or by its hash. */
export interface Command {
  readonly script: string
  readonly isHash: boolean
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

/** What comes back. */
export type Reply = unknown[] | string | number | Error

/** Units that a key was charged, and those that went back. */
interface Charge {
  taken: number
  given: number
  /** World time of the last charge. */
  at: Millis
}

/** One server, or one node of a cluster. */
export class Server {
  isUp = true
  isStopped = false
  isBusy = false
  /** Whether it drops counts when it is full. */
  readonly evicts: boolean
  /** Times that a whole count may have been handed out anew: lost writes, dropped counts and clocks that were set. */
  renewals = 0
  /** Times that the clock was set back, after which a call on its way may act late. */
  setBacks = 0
  /** Units handed back for charges that the server no longer knew. */
  strays = 0
  /** By key, whatever the rule; keys of rules differ. */
  readonly charges = new Map<string, Charge>()
  private readonly world: VirtualTime
  private offset: Millis = 0
  private readonly counts: Counts
  private renewedAt: Millis = -Infinity
  private readonly scripts = new Set<string>()
  private readonly held: (() => void)[] = []
  /** Of connections that are not accepted yet. */
  private readonly refusals: (() => void)[] = []

  constructor(world: VirtualTime, evicts = false) {
    this.world = world
    this.evicts = evicts
    this.counts = new Counts(() => world.now, {
      taken: (name, cost) => {
        const charge = this.chargeOf(name)
        charge.taken += cost
        charge.at = world.now
      },
      refunded: (name, cost, takenAt) => {
        const charge = this.chargeOf(name)
        charge.given += cost
        const isKnown = takenAt !== undefined && takenAt - this.offset > this.renewedAt
        if (!isKnown || charge.given > charge.taken) this.strays += cost
      },
    })
  }

  /** Executes a command now, or when it goes on. A server that is gone never answers. */
  receive(command: Command, answer: (reply: Reply) => void): void {
    const run = (): void => {
      if (this.isUp)
        answer(this.isBusy ? new Error('BUSY running a script') : this.execute(command))
    }
    if (this.isStopped) this.held.push(run)
    else run()
  }

  /** Accepts a connection as soon as the server reads from its sockets; the system refuses it if the server ends before. */
  accept(accepted: () => void, refused: () => void): void {
    if (!this.isUp) return refused()
    if (!this.isStopped) return accepted()
    this.held.push(accepted)
    this.refusals.push(refused)
  }

  stop(): void {
    this.isStopped = true
  }

  goOn(): void {
    this.isStopped = false
    this.refusals.length = 0
    for (const run of this.held.splice(0)) run()
  }

  /** Gone, with everything that it had not yet read. */
  crash(): void {
    this.isUp = false
    this.isStopped = false
    this.held.length = 0
    this.scripts.clear()
    for (const refuse of this.refusals.splice(0)) refuse()
  }

  /** Back, with what it did until an instant: all of it, or less. */
  restart(keptUntil: Millis): void {
    this.isUp = true
    if (this.counts.keepUntil(keptUntil)) this.renew()
  }

  setClock(by: Millis): void {
    this.offset += by
    if (by < 0) this.setBacks += 1
    this.renew()
  }

  /** Drops a count; processes that do not know it begin it anew. */
  drop(pick: (names: readonly string[]) => string): void {
    if (this.counts.drop(pick) !== undefined) this.renew()
  }

  private renew(): void {
    this.renewals += 1
    this.renewedAt = this.world.now
  }

  private execute({ script, isHash, keys, args }: Command): Reply {
    const hash = isHash ? script : hashOf(script)
    // Scripts of other texts: one asks for the memory policy, one writes nothing and returns its argument.
    if (hash === undefined)
      return script.includes('INFO')
        ? `maxmemory_policy:${this.evicts ? 'allkeys-lru' : 'noeviction'}`
        : (args[0] ?? '')
    if (!isHash) this.scripts.add(hash)
    if (!this.scripts.has(hash)) return new Error('NOSCRIPT No matching script')
    const call = readCall(hash, keys, args)
    const now = this.world.now + this.offset
    if (call.latest > 0 && now > call.latest) return [-now]
    return this.counts.run(call, now)
  }

  private chargeOf(name: string): Charge {
    const key = keyOf(name)
    let charge = this.charges.get(key)
    if (charge === undefined)
      this.charges.set(key, (charge = { taken: 0, given: 0, at: -Infinity }))
    return charge
  }
}

/** The request's own part of a name. */
export function keyOf(name: string): string {
  return name.slice(name.indexOf('{') + 1, name.indexOf('}'))
}

/** The hash of one of the store's scripts; undefined for other texts. */
export function hashOf(text: string): string | undefined {
  return [TAKE_ALL, TAKE_BUCKETS, TAKE_EACH].find((script) => script.text === text)?.hash
}
