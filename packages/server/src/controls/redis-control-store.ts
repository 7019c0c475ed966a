// Blocks and overrides in Redis, where every instance of a fleet finds them: one hash, whose version tells of changes.
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock, type Clock, type Millis } from 'sluice'
import { MOST_CONTROLS, type Control, type ControlStore, type NewControl } from './control.ts'
import { PUT, READ, REMOVE } from './control-scripts.ts'

/** What is needed of a client: to run a script on one key. */
export interface ScriptRunner {
  eval(script: string, keys: number, ...keysAndArgs: string[]): Promise<unknown>
}

/** How long the hash stays after the last instance that knows an override without an end was seen. */
const KEPT_FOR: Millis = 30 * 86_400_000
/** Differences of the clocks up to this are one difference. */
const SAME_CLOCK: Millis = 250
/** Ended ones that one change clears away at most. */
const MOST_CLEARED = 100

/** Attempts to run a script while the client has no connection to the node, and the time between two. */
const MAX_ATTEMPTS = 8
const ATTEMPT_INTERVAL: Millis = 25

/** Keeps them in one hash. Instants in it are the server's; they are translated when they are read. */
export class RedisControlStore implements ControlStore {
  private readonly client: ScriptRunner
  private readonly key: string
  private readonly clock: Clock
  private version = ''
  /** Whether anything has no end, so that the hash must be kept. */
  private isKept = false
  private known = new Map<string, { readonly text: string; readonly control: Control }>()
  private offset = Infinity

  constructor(client: ScriptRunner, prefix: string, clock: Clock = systemClock) {
    this.client = client
    // Counts end in eight characters, so that none of them is named so.
    this.key = `${prefix}{~controls}state`
    this.clock = clock
  }

  async read(): Promise<readonly Control[] | undefined> {
    const keep = this.isKept ? String(KEPT_FOR) : '0'
    const reply = (await this.run(READ, [this.version, keep])) as ReadReply
    const [serverNow, version, fields] = reply
    if (fields === undefined) return undefined
    const controls = this.readAll(fields, this.offsetFrom(serverNow))
    this.version = version
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

  /** Runs a script. A client without a connection refuses at once, with nothing sent: it is tried again for a moment. */
  private async run(script: string, args: readonly string[]): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        // oxlint-disable-next-line sluice/no-spread-arguments -- fewer than ten words
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

  /** What has ended by now; the script looks again before it clears it away. */
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
