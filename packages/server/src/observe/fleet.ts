// What all processes have seen: each writes its part to Redis every two seconds, and any of them reads all parts.
import type { Millis } from 'sluice'
import type { Log } from '../log/log.ts'
import { RepeatedLog } from '../log/repeated-log.ts'
import { READ_RULES, WRITE_JOURNAL, WRITE_RULES } from './fleet-scripts.ts'
import { KEPT_FOR, mergeEntries, type JournalEntry } from './journal.ts'
import type { Observer } from './observer.ts'
import type { RulePart } from './rule-watch.ts'

/** What is needed of a Redis client. */
export interface FleetClient {
  eval(script: string, keys: number, ...keysAndArgs: string[]): Promise<unknown>
  hscan(
    key: string,
    cursor: string,
    match: 'MATCH',
    pattern: string,
    count: 'COUNT',
    most: number,
  ): Promise<[cursor: string, fieldsAndValues: string[]]>
}

/** Between two writes, on average; a fleet does not write in step. */
const WRITE_EVERY: Millis = 2000
/** A process that has written nothing for so long has ended. */
const SILENT_AFTER: Millis = 30_000
/** How long a read may take. */
const DEADLINE: Millis = 1000
/** Journal entries that the fleet keeps, and that one write carries. */
const MAX_ENTRIES = 5000
const MAX_WRITTEN = 200

/** What was seen, and by how many processes. `complete` is false when only this process could be read. */
export interface Seen<T> {
  readonly parts: readonly T[]
  readonly processes: number
  readonly complete: boolean
}

/** One process's part. */
interface ProcessPart {
  readonly process: string
  readonly rules: readonly RulePart[]
}

/** Everything that the processes of one service have seen. Without Redis it is what this process has seen. */
export class Fleet {
  private readonly observer: Observer
  private readonly client: FleetClient | undefined
  private readonly key: string
  private readonly warnings: RepeatedLog
  private timer: NodeJS.Timeout | undefined
  private isClosed = false

  constructor(
    observer: Observer,
    redis: { readonly client: FleetClient; readonly prefix: string } | undefined,
    log: Log,
  ) {
    this.observer = observer
    this.client = redis?.client
    // Counts end in eight characters, so that none of them is named so.
    this.key = `${redis?.prefix ?? ''}{~seen}`
    this.warnings = new RepeatedLog(log)
  }

  /** Writes from now on. */
  start(): void {
    if (this.client !== undefined) this.writeLater()
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
  }

  /** Since when keys are counted. */
  get since(): Millis {
    return this.observer.since
  }

  /** What each process has recorded about its rules. */
  async rules(): Promise<Seen<RulePart>> {
    const own: ProcessPart = { process: this.observer.process, rules: this.observer.parts() }
    const others = await this.read(async (client) => {
      const keep = String(SILENT_AFTER)
      const texts = (await client.eval(READ_RULES, 1, `${this.key}rules`, keep)) as string[]
      return texts
        .map(parsed<ProcessPart>)
        .filter((part) => part !== undefined && Array.isArray(part.rules))
        .map((part) => part!)
    })
    const all = [own, ...(others ?? []).filter(({ process }) => process !== own.process)]
    return {
      parts: all.flatMap(({ rules }) => rules),
      processes: all.length,
      complete: this.client === undefined || others !== undefined,
    }
  }

  /** The journal of every process; with an id, only the entries of that key. */
  async entries(id?: string): Promise<Seen<JournalEntry>> {
    const { observer } = this
    observer.tick()
    const own = observer.journal.list(Date.now())
    const others = await this.read((client) => this.scan(client, id))
    const all = mergeEntries([...own, ...(others ?? [])])
    return {
      parts: id === undefined ? all : all.filter((entry) => entry.id === id),
      processes: 1,
      complete: this.client === undefined || others !== undefined,
    }
  }

  /** Writes what this process has seen since the last write. */
  async write(): Promise<void> {
    const { client, observer, key } = this
    if (client === undefined) return
    const rules = observer.parts()
    const { process } = observer
    if (rules.length > 0) {
      const part: ProcessPart = { process, rules }
      const args = [process, JSON.stringify(part), String(2 * SILENT_AFTER)]
      // oxlint-disable-next-line sluice/no-spread-arguments -- three words
      await client.eval(WRITE_RULES, 1, `${key}rules`, ...args)
    }
    const entries = observer.journal.takeChanged(MAX_WRITTEN)
    if (entries.length === 0) return
    const pairs = entries.flatMap((entry) => [`${entry.id}:${process}`, JSON.stringify(entry)])
    const limits = [String(MAX_ENTRIES), String(KEPT_FOR)]
    // oxlint-disable-next-line sluice/no-spread-arguments -- MAX_WRITTEN entries at most
    await client.eval(WRITE_JOURNAL, 2, `${key}journal`, `${key}order`, ...limits, ...pairs)
  }

  private async scan(client: FleetClient, id: string | undefined): Promise<JournalEntry[]> {
    const found = new Map<string, JournalEntry>()
    const own = `:${this.observer.process}`
    const pattern = `${id ?? ''}*`
    let cursor = '0'
    do {
      const [next, pairs] = await client.hscan(
        `${this.key}journal`,
        cursor,
        'MATCH',
        pattern,
        'COUNT',
        500,
      )
      for (let i = 0; i < pairs.length; i += 2) {
        const entry = parsed<JournalEntry>(pairs[i + 1]!)
        if (isEntry(entry) && !pairs[i]!.endsWith(own)) found.set(pairs[i]!, entry)
      }
      cursor = next
    } while (cursor !== '0' && found.size < MAX_ENTRIES)
    return [...found.values()]
  }

  /** Undefined without Redis, or when it does not answer in time. */
  private async read<T>(ask: (client: FleetClient) => Promise<T>): Promise<T | undefined> {
    if (this.client === undefined) return undefined
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), DEADLINE)
    })
    try {
      return await Promise.race([ask(this.client), late])
    } catch {
      return undefined
    } finally {
      clearTimeout(timer)
    }
  }

  private writeLater(): void {
    if (this.isClosed) return
    this.timer = setTimeout(
      () => {
        void this.write()
          .catch((error: unknown) =>
            this.warnings.warn(
              'observations-not-shared',
              { error: String(error) },
              'what this process has seen of its keys could not be written to Redis',
            ),
          )
          .then(() => this.writeLater())
      },
      WRITE_EVERY * (0.8 + Math.random() * 0.4),
    )
    this.timer.unref()
  }
}

function parsed<T>(text: string): T | undefined {
  try {
    const value = JSON.parse(text) as T
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether a stored value has the expected shape. */
function isEntry(entry: JournalEntry | undefined): entry is JournalEntry {
  return (
    entry !== undefined &&
    typeof entry.id === 'string' &&
    typeof entry.policy === 'string' &&
    typeof entry.rule === 'string' &&
    typeof entry.first === 'number' &&
    typeof entry.last === 'number' &&
    typeof entry.count === 'number' &&
    typeof entry.attributes === 'object' &&
    Array.isArray(entry.filledBy)
  )
}
