// One process of the fleet: the real stores of its mode on virtual time, at the end of a link to the shared store.
import { SluiceError } from '../errors.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Exchanged, RemoteHoldStore, Settlement } from '../stores/holds/hold-store.ts'
import { isPromise, type Check, type Store } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import type { Mode, PodContext } from './modes.ts'
import type { Random } from './random.ts'
import type { ReadScenario } from './read-scenario.ts'
import type { StoreOperation, SharedStore } from './shared-store.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Receives the verdict on one request. */
export type OnVerdict = (verdict: Verdict) => void

/** A process, which can crash and lose its state, be suspended and resumed, or be restarted. */
export class Pod {
  isUp = true
  /** The instants at which it ended and lost its state. */
  readonly ends: Millis[] = []
  private readonly scenario: ReadScenario
  private readonly mode: Mode
  private readonly world: VirtualTime
  private readonly shared: SharedStore
  private readonly random: Random
  private store: Store
  /** Changes when the process ends: callbacks of an earlier life do nothing. */
  private life = 0
  private isSuspended = false
  private readonly waiting: (() => void)[] = []
  private lastArrivalAt = 0
  private lastReplyAt = 0

  constructor(
    scenario: ReadScenario,
    mode: Mode,
    world: VirtualTime,
    shared: SharedStore,
    random: Random,
  ) {
    this.scenario = scenario
    this.mode = mode
    this.world = world
    this.shared = shared
    this.random = random
    this.store = this.start()
  }

  /** Decides a request. The answer may come later, or never if the process ends before. */
  take(checks: readonly Check[], onVerdict: OnVerdict): void {
    if (this.isSuspended) return void this.waiting.push(() => this.take(checks, onVerdict))
    const answer = this.store.take(checks)
    if (!isPromise(answer)) return onVerdict(answer[0]!)
    const { life } = this
    this.world.settle()
    void answer.then((verdicts) => {
      if (this.life === life) onVerdict(verdicts[0]!)
    })
  }

  /** Ends at once, without giving units back. */
  crash(): void {
    this.ends.push(this.world.clock())
    this.life += 1
    this.isUp = false
    this.waiting.length = 0
  }

  /** Ends as a service does: units that it holds go back. */
  close(): void {
    void this.store.close()
    this.world.settle()
    this.crash()
  }

  restart(): void {
    this.isUp = true
    this.isSuspended = false
    this.store = this.start()
  }

  suspend(): void {
    this.isSuspended = true
  }

  resume(): void {
    this.isSuspended = false
    for (const run of this.waiting.splice(0)) run()
    this.world.settle()
  }

  private start(): Store {
    const { life } = this
    const timers: Timers = {
      start: (run, after) => this.world.timers.start(() => this.runInLife(life, run), after),
      stop: (timer) => this.world.timers.stop(timer),
      afterTurn: (run) => this.world.timers.afterTurn(() => this.runInLife(life, run)),
    }
    const context: PodContext = {
      scenario: this.scenario,
      remote: this.remoteStore(life),
      clock: this.world.clock,
      timers,
      now: () => this.world.now,
      random: () => this.random.next(),
    }
    return this.mode.store(context)
  }

  /** Runs a callback if its life still lasts: now, or when the process is resumed. */
  private runInLife(life: number, run: () => void): void {
    if (this.life !== life) return
    if (this.isSuspended) return void this.waiting.push(() => this.runInLife(life, run))
    run()
    this.world.settle()
  }

  private remoteStore(life: number): RemoteHoldStore {
    const send = (
      operation: StoreOperation,
      checks: readonly Check[],
      settlements: readonly Settlement[] = [],
    ): Promise<Exchanged> => this.send(life, operation, checks, settlements)
    return {
      take: async (checks) => (await send('exchange', checks)).verdicts,
      peek: async (checks) => (await send('peek', checks)).verdicts,
      refund: async (checks) => void (await send('refund', checks)),
      reset: async (checks) => void (await send('reset', checks)),
      exchange: (settlements, checks) => send('exchange', checks, settlements),
      close: () => {},
    }
  }

  /** One call: there and back in order, each way half of the latency. */
  private send(
    life: number,
    operation: StoreOperation,
    checks: readonly Check[],
    settlements: readonly Settlement[],
  ): Promise<Exchanged> {
    const { shared, world } = this
    // The wrappers reuse their lists; the network carries a copy.
    const call = {
      operation,
      settlements: [...settlements],
      checks: [...checks],
      latest: operation === 'refund' ? Infinity : world.clock() + this.scenario.timeout,
    }
    return new Promise((resolve, reject) => {
      const settle = (run: () => void, at: number): void =>
        void world.at(at, () => this.runInLife(life, run))
      const refused = (): void =>
        reject(
          new SluiceError('store-unreachable', 'the simulated store is down', { transient: true }),
        )
      if (!shared.isUp) return settle(refused, world.now + this.halfLatency())
      this.lastArrivalAt = Math.max(this.lastArrivalAt, world.now + this.halfLatency())
      world.at(this.lastArrivalAt, () => {
        if (!shared.isUp) return settle(refused, world.now + this.halfLatency())
        shared.receive(call, (reply) => {
          this.lastReplyAt = Math.max(this.lastReplyAt, world.now + this.halfLatency())
          if (reply instanceof SluiceError) settle(() => reject(reply), this.lastReplyAt)
          else if (reply !== undefined) settle(() => resolve(reply), this.lastReplyAt)
        })
      })
    })
  }

  private halfLatency(): number {
    const [least, most] = this.scenario.latency
    return (least + this.random.next() * (most - least)) / 2
  }
}
