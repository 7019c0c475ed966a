// The replay: every request of the logs, in the order of time, through every candidate.
import type { Millis } from 'sluice'
import type { ByteParser, Fault, FormatName, LogParser, Mapping } from '../logs/parser.ts'
import { AgentSketch } from './agent-sketch.ts'
import { Candidate } from './candidate.ts'
import { Clients, UNTRACKED } from './clients.ts'
import { grown } from './columns.ts'
import type { Sampled } from './curve.ts'
import type { Decider, LogTime } from './decider.ts'
import { Mistake } from '../terminal/mistake.ts'
import { Peaks } from './peaks.ts'
import { Reorder } from './reorder.ts'
import { ClientSample } from './client-sample.ts'
import { Source, type Identified, type Trial } from './source.ts'
import { Timeline } from './timeline.ts'
import { smallest } from '../terminal/long-lists.ts'

/** What is replayed, and how. */
export interface ReplayOptions<T> {
  /** Makes the deciders, on the time of the log. */
  readonly deciders: (time: LogTime) => readonly Decider<T>[]
  /** The attributes that tell clients apart. */
  readonly by: readonly string[]
  /** What deciders need of a line besides its key. */
  readonly itemOf?: (parser: LogParser) => T
  /** The key that an address counts as, such as the network of an IPv6 address. Default: itself. */
  readonly addressKey?: (address: string) => string
  readonly mapping?: Mapping
  readonly format?: FormatName
  /** How far behind the newest a line may be. Default: one hour. */
  readonly reorder?: Millis
  /** Requests before it and from `to` on are left out. */
  readonly from?: Millis
  readonly to?: Millis
  readonly arrival?: boolean
  /** Windows in which peaks are of interest besides those of the deciders. */
  readonly windows?: readonly Millis[]
  /** Keeps the times of a sample of clients, for curves. */
  readonly sample?: boolean
}

/** The first line with a fault, and how many there are. */
export interface FaultCount {
  count: number
  readonly file: string
  readonly line: number
}

const HOUR: Millis = 3_600_000
const MAX_WINDOWS = 3
/** Requests with a policy hold their attributes, and weigh more. */
const MAX_HELD = { bare: 1_000_000, item: 100_000 }
/** A longer key is no name of a client. */
const MAX_KEY = 4096

/** Replays logs. Feed its sources, call `advance` now and then, `finish` once, and read the members. */
export class Replay<T> {
  readonly clients: Clients
  readonly candidates: readonly Candidate<T>[]
  readonly peaks: readonly Peaks[]
  readonly timeline: Timeline
  readonly reorder: Reorder<T>
  readonly sources: Source<T>[] = []
  readonly faults = new Map<Fault, FaultCount>()
  readonly agents = new AgentSketch()
  private readonly sample: ClientSample | undefined
  readonly by: readonly string[]
  requests = 0
  /** Requests of clients beyond those that are kept apart. */
  untracked = 0
  withoutKey = 0
  outside = 0
  /** Lines that say 429: demand that a limit has cut already. */
  throttled = 0
  /** Lines with a time that is not at a whole second. */
  fractional = 0
  /** Lines that say how long the request took. */
  timed = 0
  first: Millis | undefined
  last: Millis | undefined
  private readonly time: LogTime = { now: 0 }
  private readonly options: ReplayOptions<T>
  private readonly mapping: Mapping
  private counts = new Uint32Array(1024)
  private readonly identified: Identified<T> = { client: 0, item: undefined }
  /** Keys of clients that are not tracked, until their requests are decided, and the places that are free. */
  private readonly kept: string[] = []
  private readonly free: number[] = []
  private readonly window: Millis
  private readonly only: string | undefined

  constructor(options: ReplayOptions<T>) {
    this.options = options
    this.by = options.by
    this.mapping = options.mapping ?? new Map()
    const isAddress = options.by.length === 1 && options.by[0] === 'ip'
    this.clients = new Clients(isAddress ? options.addressKey : undefined)
    this.candidates = options.deciders(this.time).map((decider) => new Candidate(decider))
    const windows = new Set([
      ...(options.windows ?? []),
      ...this.candidates.flatMap(({ decider }) => decider.windows),
    ])
    this.peaks = [...windows].slice(0, MAX_WINDOWS).map((window) => new Peaks(window))
    this.timeline = new Timeline(1 + this.candidates.length)
    this.sample = options.sample === true ? new ClientSample() : undefined
    this.only = options.by.length === 1 ? options.by[0] : undefined
    const maxHeld = options.itemOf === undefined ? MAX_HELD.bare : MAX_HELD.item
    this.window = options.reorder ?? HOUR
    this.reorder = new Reorder({ window: this.window, maxHeld }, (at, client, item) =>
      this.decide(at, client, item),
    )
  }

  /** Adds a log. Logs may overlap in time: they are merged. */
  add(name: string): Source<T> {
    const source: Source<T> = new Source<T>(name, {
      format: this.options.format,
      mapping: this.mapping,
      arrival: this.options.arrival ?? false,
      window: this.window,
      identify: (parser, at, bytes) => this.identify(parser, at, bytes),
      onRequest: (at, client, item) => {
        this.reorder.push(at, client, item)
        if (this.sources.length === 1) this.reorder.advance(source.newest)
      },
      onFault: (fault, file, line) => this.countFault(fault, file, line),
      attributes: [...this.mapping.keys(), ...this.options.by],
      onTrial: (trial) => this.checkTrial(trial),
    })
    this.sources.push(source)
    return source
  }

  /** Decides about everything that is in order by now. */
  advance(): void {
    this.reorder.advance(smallest(this.sources.map(({ newest }) => newest)))
  }

  /** Decides about everything that is left. */
  finish(): void {
    this.reorder.flush()
    for (const { decider } of this.candidates) decider.close()
  }

  /** The sampled clients; undefined without a sample. */
  sampled(): Sampled | undefined {
    const { sample } = this
    if (sample === undefined) return undefined
    return { tracks: sample.tracks((client) => this.requestsOf(client)), oneIn: sample.every }
  }

  /** Requests of a client. */
  requestsOf(client: number): number {
    return this.counts[client] ?? 0
  }

  private identify(parser: LogParser, at: Millis, bytes: Uint8Array): Identified<T> | undefined {
    const { options, identified } = this
    const { from = -Infinity, to = Infinity } = options
    if (at < from || at >= to) {
      this.outside++
      return undefined
    }
    const client = this.clientOf(parser, bytes)
    if (client === undefined) {
      this.withoutKey++
      return undefined
    }
    if (parser.status === 429) this.throttled++
    if (at % 1000 !== 0) this.fractional++
    if (parser.duration >= 0) this.timed++
    if (client >= 0) this.agents.add(client, parser, bytes)
    identified.client = client
    identified.item = options.itemOf?.(parser)
    return identified
  }

  /** The number of the client, below 0 when it is not tracked; undefined when the line does not name it. */
  private clientOf(parser: LogParser, bytes: Uint8Array): number | undefined {
    const { only, clients } = this
    if (only !== undefined && 'locate' in parser) {
      const found = parser as ByteParser
      if (found.locate(only) && found.to - found.from <= MAX_KEY) {
        const client = clients.idOfBytes(bytes, found.from, found.to)
        if (client !== UNTRACKED) return client
      }
    }
    const key = only === undefined ? this.joined(parser) : parser.value(only)
    if (key === undefined || key.length > MAX_KEY) return undefined
    const client = clients.idOf(key)
    return client === UNTRACKED ? this.keep(clients.keyOf(key)) : client
  }

  /** Keeps the key of a client that is not tracked until its request is decided; its place is the number. */
  private keep(key: string): number {
    const place = this.free.pop() ?? this.kept.length
    this.kept[place] = key
    return -1 - place
  }

  /** One string of several values that cannot be taken for another's. */
  private joined(parser: LogParser): string | undefined {
    const parts: string[] = []
    for (const name of this.options.by) {
      const value = parser.value(name)
      if (value === undefined) return undefined
      const { addressKey } = this.options
      const key = name === 'ip' && addressKey !== undefined ? addressKey(value) : value
      parts.push(`${name}=${key.replaceAll(/[\\ ]/g, '\\$&')}`)
    }
    return parts.join(' ')
  }

  private decide(at: Millis, client: number, item: T | undefined): void {
    const { candidates, timeline } = this
    this.time.now = at
    this.requests++
    this.first ??= at
    this.last = at
    timeline.add(at, 0)
    let key: string
    if (client < 0) {
      key = this.kept[-1 - client] as string
      this.free.push(-1 - client)
      this.untracked++
    } else {
      key = this.clients.key(client)
      if (client >= this.counts.length) this.counts = grown(this.counts, client + 1)
      this.counts[client]!++
      for (const peaks of this.peaks) peaks.add(at, client)
      this.sample?.add(at, client)
    }
    for (let i = 0; i < candidates.length; i++)
      if (candidates[i]!.refuses(at, client, key, item)) timeline.add(at, i + 1)
  }

  private countFault(fault: Fault, file: string, line: number): void {
    const known = this.faults.get(fault)
    if (known === undefined) this.faults.set(fault, { count: 1, file, line })
    else known.count++
  }

  /** A mapping that no line of the first hundred fits is a mistake, not a property of the log. */
  private checkTrial({ file, parsed, seen, offered }: Trial): void {
    const offeredText = (): string => [...offered].join(', ')
    for (const [attribute, field] of this.mapping) {
      if (seen.has(attribute)) continue
      throw new Mistake(
        `${file}: none of the first ${parsed} lines has the field ${field}, as --map ${attribute}=${field} says; the lines offer ${offeredText()}`,
      )
    }
    const missing = this.options.by.find((attribute) => !seen.has(attribute))
    if (missing !== undefined)
      throw new Mistake(
        `${file}: none of the first ${parsed} lines has ${missing}; the lines offer ${offeredText()}; accepted: --map ${missing}=<field>, or another --by`,
      )
  }
}
