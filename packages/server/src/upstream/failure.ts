// The failures of an upstream before it has answered, and the problem that the client gets for each.
import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { Millis } from 'sluice'
import { problemOf, type Problem } from '../net/problem.ts'

/** The problem for each failure. */
export const FAILURES: Readonly<Record<UpstreamFailure, Problem>> = {
  unreachable: problemOf(
    502,
    'upstream-unreachable',
    'the server behind this one cannot be reached',
  ),
  reset: problemOf(502, 'upstream-reset', 'the server behind this one ended without an answer'),
  invalid: problemOf(
    502,
    'upstream-invalid',
    'the server behind this one answered with something else than HTTP',
  ),
  timeout: problemOf(504, 'upstream-timeout', 'the server behind this one did not answer in time'),
  slow: problemOf(408, 'request-timeout', 'the body of the request did not come in time'),
  overloaded: problemOf(
    503,
    'upstream-busy',
    'too many requests are waiting for the server behind this one',
  ),
}

/** How a request that was let through failed before it had an answer. */
export type UpstreamFailure =
  | 'unreachable'
  | 'reset'
  | 'invalid'
  | 'timeout'
  | 'slow'
  | 'overloaded'

/** Closes a connection that is not established in time. */
export function limitConnecting(sent: ClientRequest, socket: Socket, connectTimeout: Millis): void {
  if (!socket.connecting) return
  const timer = setTimeout(() => {
    sent.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' }))
  }, connectTimeout)
  const event = 'encrypted' in socket ? 'secureConnect' : 'connect'
  socket.once(event, () => clearTimeout(timer))
  socket.once('close', () => clearTimeout(timer))
}

/** What an error of the request means, before there is an answer. */
export function failureOf(
  { code = '' }: NodeJS.ErrnoException,
  { socket }: ClientRequest,
): UpstreamFailure {
  if (code === 'ETIMEDOUT') return 'timeout'
  if (code.startsWith('HPE_')) return 'invalid'
  return code === 'ECONNRESET' && (socket?.bytesWritten ?? 0) > 0 ? 'reset' : 'unreachable'
}
