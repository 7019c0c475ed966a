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
    destination ?? durable(2),
  )
}

/** How many bytes wait for a full disk to have room again; what comes on top is lost. */
const MOST_WAITING = 1_000_000

/**
 * Where lines go: a path, or the number of an open file. Lines that cannot be written wait, and `onError` hears why; without
 * it pino lets the process end on a full disk. Throws when the file cannot be opened.
 */
export function durable(dest: string | 2, onError?: (error: Error) => void): DestinationStream {
  const options = { mkdir: true, mode: 0o600, sync: true, maxLength: MOST_WAITING } as const
  const stream = pino.destination({ ...options, dest })
  stream.on('error', (error: Error) => onError?.(error))
  return stream
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
