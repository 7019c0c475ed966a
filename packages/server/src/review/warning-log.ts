// Logs the warnings of a configuration in force: each once, and after a reload only those that are new.
import { helpAt } from 'sluice'
import type { Config } from '../config/config.ts'
import { pathText } from '../config/problem.ts'
import type { ConfigResult } from '../config/read-config.ts'
import { untrustedAddresses } from '../config/untrusted-addresses.ts'
import type { Log } from '../log/log.ts'
import { warningsOf, type ConfigWarning } from './review.ts'
import { trapsOf } from './traps.ts'

/** How many warnings are logged at once; `sluice check` shows all of them. */
const MAX_LINES = 100

/** What is logged of one warning: its place is not known when the configuration was made in code. */
export type LoggedWarning = Pick<ConfigWarning, 'code' | 'path' | 'message' | 'help'> &
  Partial<ConfigWarning>

/** What a configuration shows by itself, without the places of its parts. */
export function plainWarnings(config: Config): readonly LoggedWarning[] {
  return trapsOf(config, untrustedAddresses(config)).map(({ code, steps, message }) => {
    const help = helpAt('reference/service/config', code)
    return { code, path: pathText(steps), message, help }
  })
}

/** What a file shows that was read again: its policies are in force, the rest is that of the start. */
export function warningsAfterReload(
  file: string,
  started: Config,
  { config, remarks, positionOf }: Pick<ConfigResult, 'config' | 'remarks' | 'positionOf'>,
): readonly ConfigWarning[] {
  if (config === undefined) return []
  return warningsOf(trapsOf({ ...started, policies: config.policies }, remarks), file, positionOf)
}

/** Remembers what was logged. */
export class WarningLog {
  private readonly log: Log
  private known: ReadonlySet<string> = new Set()

  constructor(log: Log) {
    this.log = log
  }

  /** Logs the warnings that the last call did not have. A rule that has only moved in the file is not logged again. */
  report(warnings: readonly LoggedWarning[]): void {
    const sign = ({ code, message }: LoggedWarning): string => `${code} ${message}`
    const fresh = warnings.filter((warning) => !this.known.has(sign(warning)))
    this.known = new Set(warnings.map(sign))
    for (const { message, ...fields } of fresh.slice(0, MAX_LINES)) this.log.warn(fields, message)
    const rest = fresh.length - MAX_LINES
    if (rest > 0)
      this.log.warn({}, `${rest} more warnings of the configuration; run sluice check to see them`)
  }
}
