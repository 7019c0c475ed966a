// The status codes of gRPC that this service answers with. UNKNOWN is not one of them.
import { SluiceError } from 'sluice'
import { BadRequest } from '../decide/domain.ts'
import { MessageTooLarge, WireError } from '../wire/reader.ts'

/** Codes by name, with the numbers of the protocol. */
export const STATUS = {
  OK: 0,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const

/** The name of a code. */
export type StatusName = keyof typeof STATUS

/** Ends a call with a status. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly status: StatusName

  constructor(status: StatusName, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * The status of an error. A request that makes no sense is the caller's; a store that cannot answer is
 * UNAVAILABLE, so that the proxy does what its failure mode says; anything else is a mistake of ours.
 */
export function statusErrorOf(error: unknown): StatusError {
  if (error instanceof StatusError) return error
  if (error instanceof BadRequest) return new StatusError('INVALID_ARGUMENT', error.message)
  if (error instanceof MessageTooLarge) return new StatusError('RESOURCE_EXHAUSTED', error.message)
  if (error instanceof WireError)
    return new StatusError('INVALID_ARGUMENT', `the message cannot be read: ${error.message}`)
  if (!(error instanceof SluiceError)) return new StatusError('INTERNAL', 'the service has a bug')
  const isMisuse = error.code.startsWith('invalid-')
  return new StatusError(isMisuse ? 'INVALID_ARGUMENT' : 'UNAVAILABLE', error.message)
}

/** A message as it travels in a header: percent-encoded, and short. */
export function statusMessage(message: string): string {
  // By way of bytes, since half a surrogate pair cannot be encoded.
  return encodeURI(Buffer.from(message.slice(0, 256)).toString()).replaceAll('%20', ' ')
}
