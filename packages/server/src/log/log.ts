// Structured logs: one JSON line for each event, without secrets, and safe whatever text clients send.
import { pino, type DestinationStream } from 'pino'
import { standardErrorSink } from './line-sink.ts'

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

const SECRET_FIELDS = ['password', 'token', 'secret', 'authorization', 'cookie']

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
        paths: [
          ...SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
          '["x-api-key"]',
          '*["x-api-key"]',
        ],
        censor: '***',
      },
      // The whole line, since a secret may stand in the text of another library's error.
      hooks: { streamWrite: (line) => harmless(withoutSecrets(line)) },
    },
    destination ?? standardErrorSink(),
  )
}

/** How long the end of the process waits for the reader of its log. */
const FLUSH_TIMEOUT = 1000

/** Resolves when standard error has taken every line, or after a second. Call it before the process ends. */
export function flushLogs(): Promise<void> {
  return standardErrorSink().flush(FLUSH_TIMEOUT)
}

/** The text with the password of every URL in it replaced by `***`. */
export function withoutPasswords(text: string): string {
  return text.replaceAll(/([a-z][a-z\d+.-]{0,20}:\/\/[^\s:@/"]*):[^\s/"]+@/gi, '$1:***@')
}

/** The same, and without what stands after `Bearer` or in a parameter such as `token`. */
export function withoutSecrets(text: string): string {
  return withoutPasswords(text)
    .replaceAll(/\b(bearer |basic (?=[\w+/]*[\d=]))[\w.~+/=-]+/gi, '$1***')
    .replaceAll(/([?&](?:token|password|secret|api-?key)=)[^&\s"]+/gi, '$1***')
}

/** JSON leaves these as they are, and terminals and viewers act on them. */
const CONTROLS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

function harmless(line: string): string {
  return line.replaceAll(CONTROLS, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
