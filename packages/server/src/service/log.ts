// Structured logs: one JSON line for each event, without secrets, whatever strangers put into them.
import { pino, type DestinationStream } from 'pino'

/** What the service logs through: a pino logger, or anything of its shape. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** From everything to nothing. */
export const LOG_LEVELS: readonly ['debug', 'info', 'warn', 'error', 'silent'] = [
  'debug',
  'info',
  'warn',
  'error',
  'silent',
]

/** How much is logged. */
export type LogLevel = (typeof LOG_LEVELS)[number]

const SECRET_FIELDS = ['password', 'token', 'secret', 'authorization']

/** Logs to standard error, or to another stream; `base` is in every line. JSON escapes line breaks and control characters. */
export function createLog(
  level: LogLevel,
  destination?: DestinationStream,
  base: Readonly<Record<string, unknown>> | null = null,
): Log {
  return pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
        censor: '***',
      },
      // The whole line, since a password may stand in the text of another library's error.
      hooks: { streamWrite: withoutPasswords },
    },
    destination ?? pino.destination({ dest: 2, sync: true }),
  )
}

/** The text with the password of every URL in it replaced by `***`. */
export function withoutPasswords(text: string): string {
  return text.replaceAll(/([a-z][a-z\d+.-]*:\/\/[^\s:@/"]*):[^\s@/"]+@/gi, '$1:***@')
}
