// Errors as application/problem+json (RFC 9457).
import { STATUS_CODES } from 'node:http'
import { SluiceError } from 'sluice'

/** The body of every error. `code` is for programs, `detail` for people. */
export interface Problem {
  readonly type: 'about:blank'
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  /** The member of the request that is wrong. */
  readonly field?: string
}

/** A request that cannot be answered with a decision. */
export class RequestError extends Error {
  readonly problem: Problem

  constructor(status: number, code: string, detail: string, field?: string) {
    super(detail)
    this.problem = problemOf(status, code, detail, field)
  }
}

/** The problem as data. */
export function problemOf(status: number, code: string, detail: string, field?: string): Problem {
  const title = STATUS_CODES[status] ?? 'Error'
  const problem: Problem = { type: 'about:blank', title, status, detail, code }
  return field === undefined ? problem : { ...problem, field }
}

const FIELD_OF_CODE: Readonly<Record<string, string>> = {
  'invalid-cost': 'cost',
  'invalid-key': 'attributes',
  'invalid-attributes': 'attributes',
}

/** The fields of a refund that the library checks as options; its sentence begins with the one that is wrong. */
const OPTIONS = ['takenAt', 'pools']

function fieldOf({ code, message }: SluiceError): string | undefined {
  if (code === 'invalid-option') return OPTIONS.find((name) => message.startsWith(`${name} `))
  return FIELD_OF_CODE[code]
}

/** What an error means to the caller: misuse is 400, a store that cannot answer 503, anything else a fault of ours. */
export function problemOfError(error: unknown): Problem {
  if (error instanceof RequestError) return error.problem
  if (!(error instanceof SluiceError)) return problemOf(500, 'internal', 'an unexpected error')
  const { code, message } = error
  if (code.startsWith('invalid-')) return problemOf(400, code, message, fieldOf(error))
  if (code === 'unknown-reservation') return problemOf(404, code, message, 'id')
  return problemOf(503, code, 'the store could not answer; try again')
}
