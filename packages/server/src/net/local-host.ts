// Guards listeners on loopback against DNS rebinding: a web page whose name points here must not reach them.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { problemOf } from './problem.ts'
import { sendProblem } from './body.ts'

/** Proxies on the same machine hand on the host that their client asked for. Those paths change nothing. */
const ASKED_BY_PROXIES = '/v1/auth/'

/** Whether an address to listen on is reached from this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/**
 * Whether a Host field names this machine: `localhost`, or an address, which no name server can point elsewhere. A
 * browser always sends the field.
 */
export function isLocalHost(field: string | undefined): boolean {
  if (field === undefined) return true
  return /^(localhost|[\w-]+\.localhost|\d+\.\d+\.\d+\.\d+|\[[\da-f:.]+\])(:\d+)?$/i.test(field)
}

/** Whether a proxy asks, on behalf of a client that named any host. */
export function isAskedByProxy({ url = '' }: IncomingMessage): boolean {
  return url.startsWith(ASKED_BY_PROXIES)
}

/** Answers a request that was meant for another host. */
export function refuseHost(response: ServerResponse): void {
  const detail = 'the Host field names another host; accepted: localhost, or an IP address'
  sendProblem(response, problemOf(421, 'wrong-host', detail), true)
}
