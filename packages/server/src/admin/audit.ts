// The audit log: one line for every change and every refused attempt, in the log and, if wanted, in a file.
import { createLog, durable, type Log } from '../log/log.ts'
import { RepeatedLog } from '../log/repeated-log.ts'
import { visible } from '../log/visible.ts'

/** Who asked: the peer's address, and the name of the token when it was right. */
export interface Who {
  readonly address: string
  readonly token?: string
}

/** What came of it: done, refused for want of a right token, or not done and why. */
export type AuditResult = 'done' | 'refused' | 'failed'

/** How deep a target is written; requests are flat. */
const DEEPEST = 4

/** Writes lines. Text that strangers chose is escaped and cut. */
export class Audit {
  private readonly log: Log
  private readonly file: Log | undefined
  private readonly repeated: RepeatedLog

  /** Throws when the file cannot be opened. */
  constructor(log: Log, file: string | undefined) {
    this.log = log
    this.repeated = new RepeatedLog(log)
    this.file = file === undefined ? undefined : this.open(file)
  }

  write(who: Who, operation: string, target: unknown, result: AuditResult, why?: string): void {
    const audit = {
      who: shown(who, 0),
      operation: visible(operation),
      target: shown(target, 0),
      result,
      ...(why !== undefined && { why: visible(why) }),
    }
    const level = result === 'done' ? 'info' : 'warn'
    this.log[level]({ audit }, 'admin')
    this.file?.[level]({ audit }, 'admin')
  }

  /** An address that fails again and again is written once a minute, with how often it came. */
  tooMany(who: Who): void {
    this.repeated.warn('admin-attempts', { who: shown(who, 0) }, 'too many failed admin attempts')
  }

  private open(file: string): Log {
    const onError = ({ message: error }: Error): void =>
      this.repeated.warn('audit-file', { file, error }, 'the audit file cannot be written')
    try {
      return createLog('info', durable(file, onError))
    } catch (error) {
      const { message } = error as Error
      throw new Error(`listeners.admin.auditFile cannot be opened: ${message}`, { cause: error })
    }
  }
}

function shown(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return visible(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEEPEST) return '…'
  if (Array.isArray(value)) return value.slice(0, 50).map((one) => shown(one, depth + 1))
  const members = Object.entries(value).slice(0, 50)
  return Object.fromEntries(
    members.map(([name, one]) => [visible(name, 60), shown(one, depth + 1)]),
  )
}
