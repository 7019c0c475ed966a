// The blocks and overrides that this process knows, read again from their store once a second.
import { isDeepStrictEqual } from 'node:util'
import { systemClock, type Clock, type Millis } from 'sluice'
import type { Log } from '../log/log.ts'
import { RepeatedLog } from '../log/repeated-log.ts'
import { BlockIndex } from './block-index.ts'
import type { Block, Control, ControlStore, LiveOverride, NewControl } from './control.ts'

/** Average time between two reads; jittered, so that a fleet does not read at the same instant. */
const LOOK_EVERY = 1000
/** How long a look may take before it counts as failed, and a change before its caller gets an error. */
const DEADLINE: Millis = 500
/** After a change, the next look waits this many times as long as the change took to apply, at most this long. */
const REST = 3
const MAX_REST: Millis = 200
/** How long a start waits for the first look at most. */
const START_PATIENCE = 500

/** The blocks in force, as one field that decisions read. */
export interface KnownBlocks {
  /** Null when nothing is blocked. */
  readonly blocks: BlockIndex | null
}

/** What they are made from. */
export interface LiveControlsOptions {
  readonly store: ControlStore
  readonly log: Log
  /** Called after every change of the overrides. */
  readonly onOverrides: (overrides: readonly LiveOverride[]) => void
  readonly clock?: Clock
  /** The bits of an IPv6 address by which proxies count. */
  readonly ipv6Prefix?: number | undefined
  /** Milliseconds that a call may take; default 500, which is also the least. */
  readonly timeout?: Millis
}

/**
 * Controls that any process has set apply here within two seconds. While their store cannot be reached, the last known
 * ones stay in force, each until its own end.
 */
export class LiveControls implements KnownBlocks {
  blocks: BlockIndex | null = null
  private readonly options: LiveControlsOptions
  private readonly clock: Clock
  private readonly warnings: RepeatedLog
  private controls: readonly Control[] = []
  private timer: NodeJS.Timeout | undefined
  private asking: Promise<void> | undefined
  private waiting: Promise<void> | undefined
  private isClosed = false
  /** When the next look may begin, by the monotonic clock. */
  private nextLook: Millis = 0

  constructor(options: LiveControlsOptions) {
    this.options = options
    this.clock = options.clock ?? systemClock
    this.warnings = new RepeatedLog(options.log)
  }

  /** Reads the controls, and goes on polling. Resolves after half a second even without an answer. */
  async start(): Promise<void> {
    const end = performance.now() + START_PATIENCE
    for (;;) {
      try {
        await this.look()
        break
      } catch (error) {
        // A client that is still connecting refuses at once.
        if (performance.now() >= end) {
          this.warn(error)
          break
        }
        await pause(25)
      }
    }
    this.lookLater()
  }

  /** Every block that holds, the last one first. */
  listBlocks(): readonly Block[] {
    return this.holding().filter((one) => one.kind === 'block')
  }

  /** Every override that holds, the last one first. */
  listOverrides(): readonly LiveOverride[] {
    return this.holding().filter((one) => one.kind === 'override')
  }

  /** The block or override of an id, if it holds. */
  find(id: string): Control | undefined {
    const now = this.clock()
    return this.controls.find((one) => one.id === id && (one.until === null || one.until > now))
  }

  /** Sets a block or an override, in force here when it resolves; false when there is no room. */
  async put(control: NewControl, duration: Millis | null): Promise<boolean> {
    const isSet = await this.inTime(this.options.store.put(control, duration))
    if (isSet) await this.look()
    return isSet
  }

  /** Removes one; gives whether it was there. */
  async remove(id: string): Promise<boolean> {
    let isRemoved = await this.inTime(this.options.store.remove(id))
    await this.look()
    // A store that lost what is known here gets it back by the look.
    if (!isRemoved && this.find(id) !== undefined) {
      isRemoved = await this.inTime(this.options.store.remove(id))
      await this.look()
    }
    return isRemoved
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
  }

  /** Reads them from their store. While one read is in progress, all further callers share the next one. */
  private look(): Promise<void> {
    this.waiting ??= (async () => {
      await this.asking?.catch(() => {})
      // Each change costs as much as there are overrides; a crowd of changes shares one.
      await pause(this.nextLook - performance.now())
      this.waiting = undefined
      this.asking = this.ask()
      await this.asking
    })()
    return this.inTime(this.waiting)
  }

  private inTime<T>(answer: Promise<T>): Promise<T> {
    const timeout = Math.max(DEADLINE, this.options.timeout ?? 0)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new ControlsTooLate(timeout)), timeout)
      answer.then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }

  private async ask(): Promise<void> {
    const read = await this.options.store.read()
    const start = performance.now()
    this.learn(read)
    const end = performance.now()
    this.nextLook = end + Math.min(MAX_REST, REST * (end - start))
  }

  private learn(read: readonly Control[] | undefined): void {
    if (this.isClosed) return
    const known = this.controls
    const controls = holdingAt(read ?? known, this.clock())
    if (read === undefined && controls.length === known.length) return
    this.controls = controls
    const blocks = controls.filter((one) => one.kind === 'block')
    this.blocks = blocks.length === 0 ? null : new BlockIndex(blocks, this.options.ipv6Prefix)
    const overrides = controls.filter((one) => one.kind === 'override')
    if (!isDeepStrictEqual(overrides, known.filter(isOverride))) this.options.onOverrides(overrides)
  }

  private lookLater(): void {
    if (this.isClosed) return
    const timer = setTimeout(
      () => {
        void this.look()
          .catch((error: unknown) => {
            // A control must end on time, even if the store does not answer.
            this.learn(undefined)
            this.warn(error)
          })
          .then(() => this.lookLater())
      },
      LOOK_EVERY * (0.8 + Math.random() * 0.4),
    )
    timer.unref()
    this.timer = timer
  }

  private warn(error: unknown): void {
    this.warnings.warn(
      'controls-unknown',
      { error: error instanceof Error ? error.message : String(error) },
      'blocks and overrides cannot be read; those known last stay',
    )
  }

  private holding(): readonly Control[] {
    return holdingAt(this.controls, this.clock()).toReversed()
  }
}

function isOverride(control: Control): control is LiveOverride {
  return control.kind === 'override'
}

function holdingAt(controls: readonly Control[], now: Millis): readonly Control[] {
  return controls.filter(({ until }) => until === null || until > now)
}

/** The answer, or an error when it takes too long; what was asked may then still happen. */

/** Where blocks and overrides are kept did not answer in time. */
export class ControlsTooLate extends Error {
  constructor(timeout: Millis) {
    super(`no answer within ${timeout} ms`)
  }
}

function pause(millis: Millis): Promise<void> {
  if (millis <= 0) return Promise.resolve()
  return new Promise((resolve) => setTimeout(resolve, millis))
}
