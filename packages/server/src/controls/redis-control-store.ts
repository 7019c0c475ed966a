// Blocks and overrides in Redis, where every instance of a fleet finds them: one hash with a version that changes with it.
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock, type Clock, type Millis } from 'sluice'
import { MOST_CONTROLS, type Control, type ControlStore, type NewControl } from './control.ts'
import { PUT, READ, REMOVE, RESTORE } from './control-scripts.ts'

/** What is needed of a client: to run a script on one key. */
export interface ScriptRunner {
  eval(script: string, keys: number, ...keysAndArgs: string[]): Promise<unknown>
}

/** How long the hash stays after the last instance that knows an override without an end was seen. */
const KEPT_FOR: Millis = 30 * 86_400_000
/** Differences of the clocks up to this are one difference. */
const SAME_CLOCK: Millis = 250
/** Ended ones that one change removes at most. */
const MOST_CLEARED = 100

/** Attempts to run a script while the client has no connection to the node, and the time between two. */
const MAX_ATTEMPTS = 8
const ATTEMPT_INTERVAL: Millis = 25

/** Controls that one call writes back at most. */
const MAX_WRITTEN_BACK = 100

/** How the controls are kept. */
export interface RedisControlOptions {
  readonly clock?: Clock
  /** Called when Redis had lost controls that this process knew, and they were written back. */
  readonly onRestored?: (controls: readonly Control[]) => void
}

/**
 * Keeps them in one hash. Instants in it are the server's; they are translated when they are read. If the server loses
 * the hash, what this process knows is written back.
 */
export class RedisControlStore implements ControlStore {
  private readonly client: ScriptRunner
  private readonly key: string
  private readonly clock: Clock
  private readonly onRestored: (controls: readonly Control[]) => void
  private version = ''
  /** When the hash was made, by the server's clock: another value is another hash. */
  private born = ''
  /** Whether anything has no end, so that the hash must be kept. */
  private isKept = false
  private known = new Map<string, { readonly text: string; readonly control: Control }>()
  private offset = Infinity

  constructor(client: ScriptRunner, prefix: string, options: RedisControlOptions = {}) {
    this.client = client
    // Counts end in eight characters, so that none of them is named so.
    this.key = `${prefix}{~controls}state`
    this.clock = options.clock ?? systemClock
    this.onRestored = options.onRestored ?? (() => {})
  }

  async read(): Promise<readonly Control[] | undefined> {
    const reply = await this.readHash()
    const [serverNow, , fields] = reply
    if (fields === undefined) return undefined
    const lost = this.lostFrom(fields)
    if (lost.length === 0) return this.accept(serverNow, reply[1], fields)
    await this.restore(lost, this.clock() - serverNow)
    const [now, version, all = fields] = await this.readHash()
    return this.accept(now, version, all)
  }

  private async readHash(): Promise<ReadReply> {
    const keep = this.isKept ? String(KEPT_FOR) : '0'
    return (await this.run(READ, [this.version, keep])) as ReadReply
  }

  private accept(
    serverNow: Millis,
    version: string,
    fields: readonly string[],
  ): readonly Control[] {
    const controls = this.readAll(fields, this.offsetFrom(serverNow))
    this.version = version
    this.born = bornOf(fields)
    this.isKept = controls.some(({ until }) => until === null)
    return controls.toSorted((a, b) => a.since - b.since)
  }

  async put(control: NewControl, duration: Millis | null): Promise<boolean> {
    const text = JSON.stringify(control)
    const lasts = duration === null ? '' : String(duration)
    const most = String(MOST_CONTROLS)
    const args = [control.id, text, lasts, most, String(KEPT_FOR), ...this.over()]
    return (await this.run(PUT, args)) === 1
  }

  async remove(id: string): Promise<boolean> {
    return (await this.run(REMOVE, [id, ...this.over()])) === 1
  }

  /** What holds and was in the hash that was there before this one. */
  private lostFrom(fields: readonly string[]): readonly Control[] {
    if (this.born === '' || bornOf(fields) === this.born) return []
    const now = this.clock()
    const present = new Set(fields.filter((_, i) => i % 2 === 0))
    return [...this.known.values()]
      .map(({ control }) => control)
      .filter(({ id, until }) => !present.has(id) && (until === null || until > now))
  }

  private async restore(lost: readonly Control[], offset: Millis): Promise<void> {
    let written: readonly Control[] = []
    for (let i = 0; i < lost.length; i += MAX_WRITTEN_BACK) {
      const some = lost.slice(i, i + MAX_WRITTEN_BACK)
      const texts = some.flatMap((control) => [control.id, textOf(control, offset)])
      const ends = some.map(({ until }) => until ?? Infinity).toSorted((a, b) => b - a)
      const lasts = Math.ceil(Math.min(ends[0]! - this.clock(), KEPT_FOR))
      // Those that another instance wrote first are the same.
      const count = Number(await this.run(RESTORE, [String(lasts), ...texts]))
      if (count > 0) written = [...written, ...some]
    }
    if (written.length > 0) this.onRestored(written)
  }

  /** Runs a script. A client without a connection refuses at once, with nothing sent: it is tried again for a moment. */
  private async run(script: string, args: readonly string[]): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        // oxlint-disable-next-line sluice/no-spread-arguments -- at most two hundred words and one
        return await this.client.eval(script, 1, this.key, ...args)
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !isNotSent(error)) throw error
        await pause(ATTEMPT_INTERVAL)
      }
    }
  }

  /** Those whose text is known already stay the same objects: a change is one of thousands. */
  private readAll(fields: readonly string[], offset: Millis): readonly Control[] {
    const known = this.known
    this.known = new Map()
    const controls: Control[] = []
    for (let i = 0; i < fields.length; i += 2) {
      const text = fields[i + 1]!
      const same = known.get(fields[i]!)
      const control = same?.text === text ? same.control : readControl(fields[i]!, text, offset)
      if (control === undefined) continue
      controls.push(control)
      this.known.set(control.id, { text, control })
    }
    return controls
  }

  /** How far the server's clock is from ours; a few milliseconds more or less are the network's. */
  private offsetFrom(serverNow: Millis): Millis {
    const offset = this.clock() - serverNow
    if (Math.abs(offset - this.offset) > SAME_CLOCK) {
      this.offset = offset
      this.known.clear()
    }
    return this.offset
  }

  /** What has ended by now; the script looks again before it removes it. */
  private over(): readonly string[] {
    const now = this.clock()
    const ended: string[] = []
    for (const [id, { control }] of this.known) {
      if (ended.length >= MOST_CLEARED) break
      if (control.until !== null && control.until <= now) ended.push(id)
    }
    return ended
  }
}

/** Whether ioredis refused a command that it has not sent, because the node has no connection yet. */
function isNotSent(error: unknown): boolean {
  return error instanceof Error && error.message.includes('enableOfflineQueue')
}

type ReadReply = [now: number, version: string, fields?: readonly string[]]

/** When the hash of these fields was made, '' for one that is not there. */
function bornOf(fields: readonly string[]): string {
  const at = fields.findIndex((name, i) => i % 2 === 0 && name === 'born')
  return at < 0 ? '' : fields[at + 1]!
}

/** The stored form of a control, with its instants by the server's clock. */
function textOf({ since, until, ...control }: Control, offset: Millis): string {
  const end = until === null ? 0 : Math.ceil(until - offset)
  return `${Math.max(0, Math.floor(since - offset))} ${end} ${JSON.stringify(control)}`
}

/** `since until {…}`, where an until of 0 is no end; undefined for anything else. */
function readControl(id: string, text: string, offset: Millis): Control | undefined {
  const match = /^(\d{1,16}) (\d{1,16}) (\{.*)$/s.exec(text)
  if (id === 'version' || match === null) return undefined
  const [, since, until, json] = match
  try {
    const control = JSON.parse(json!) as Control
    const instants = {
      since: Number(since) + offset,
      until: Number(until) === 0 ? null : Number(until) + offset,
    }
    const whole = { ...control, ...instants } as Control
    return control.id === id && isControl(whole) ? whole : undefined
  } catch {
    return undefined
  }
}

/** Whether a stored value has the expected shape. */
function isControl(control: Control): boolean {
  const { kind, note, by, policy } = control
  if (typeof note !== 'string' || typeof by !== 'string') return false
  if (kind === 'override')
    return typeof policy === 'string' && typeof control.rule === 'string' && isObject(control.when)
  return (
    kind === 'block' &&
    control.until !== null &&
    (policy === null || typeof policy === 'string') &&
    isObject(control.attributes) &&
    Object.keys(control.attributes).length > 0 &&
    Object.values(control.attributes).every((value) => typeof value === 'string')
  )
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
