// The audit log: one line for every change and every refused attempt, in the log and, if wanted, in a file.
import { fileSink, type LineSink } from '../log/line-sink.ts'
import { createLog, type Log } from '../log/log.ts'
import { RepeatedLog } from '../log/repeated-log.ts'
import { visible } from '../log/client-text.ts'
import type { Role } from '../config/tokens.ts'

/** The caller: the peer's address, and the name of the token if it is valid. */
export interface Who {
  readonly address: string
  readonly token?: string
  readonly role?: Role
}

/** A line of the audit log as the console shows it. */
export interface AuditEntry {
  readonly at: string
  readonly who: string
  readonly address: string
  readonly operation: string
  readonly target: unknown
  readonly result: AuditResult
  readonly why: string | null
}

/** The result: done, refused without a valid token, or not done and why. */
export type AuditResult = 'done' | 'refused' | 'failed'

/** How deep a target is written; requests are flat. */
const MAX_DEPTH = 4
/** Lines that are kept for the console. */
const MAX_RECENT = 500
/** How long the end of the service waits for the file. */
const FLUSH_TIMEOUT = 1000

/** Writes lines. Text that clients chose is escaped and cut. */
export class Audit {
  private readonly log: Log
  private readonly sink: LineSink | undefined
  private readonly file: Log | undefined
  private readonly repeated: RepeatedLog
  private entries: AuditEntry[] = []

  /** Throws when the file cannot be opened. */
  constructor(log: Log, file: string | undefined) {
    this.log = log
    this.repeated = new RepeatedLog(log)
    this.sink = file === undefined ? undefined : this.open(file)
    this.file = this.sink && createLog('info', this.sink)
  }

  write(who: Who, operation: string, target: unknown, result: AuditResult, why?: string): void {
    const audit = {
      who: shown(who, 0),
      operation: visible(operation),
      target: shown(target, 0),
      result,
      ...(why !== undefined && { why: visible(why) }),
    }
    this.entries.push({
      at: new Date().toISOString(),
      who: visible(who.token ?? ''),
      address: who.address,
      operation: audit.operation,
      target: audit.target,
      result,
      why: audit.why ?? null,
    })
    if (this.entries.length > MAX_RECENT) this.entries = this.entries.slice(-MAX_RECENT / 2)
    const level = result === 'done' ? 'info' : 'warn'
    this.log[level]({ audit }, 'admin')
    this.file?.[level]({ audit }, 'admin')
  }

  /** Repeated failures of an address are written once a minute, with their number. */
  tooMany(who: Who): void {
    this.repeated.warn('admin-attempts', { who: shown(who, 0) }, 'too many failed admin attempts')
  }

  /** The newest lines of this process, the newest first. */
  get recent(): readonly AuditEntry[] {
    return this.entries.toReversed()
  }

  /** How many lines the file has missed. */
  get dropped(): number {
    return this.sink?.dropped ?? 0
  }

  /** Resolves when every line is in the file, or after a second. */
  async close(): Promise<void> {
    await this.sink?.flush(FLUSH_TIMEOUT)
  }

  private open(file: string): LineSink {
    const onError = ({ message: error }: Error): void =>
      this.repeated.warn('audit-file', { file, error }, 'the audit file cannot be written')
    try {
      return fileSink(file, onError)
    } catch (error) {
      const { message } = error as Error
      throw new Error(`listeners.admin.auditFile cannot be opened: ${message}`, { cause: error })
    }
  }
}

function shown(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return visible(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '…'
  if (Array.isArray(value)) return value.slice(0, 50).map((one) => shown(one, depth + 1))
  const members = Object.entries(value).slice(0, 50)
  return Object.fromEntries(
    members.map(([name, one]) => [visible(name, 60), shown(one, depth + 1)]),
  )
}
