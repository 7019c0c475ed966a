// The fields that name the client for the upstream: set here, or continued if a trusted proxy has set them.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { clientAddress } from 'sluice/http'
import type { RawFields } from './fields.ts'

/** Says whether the other end of a connection is one of the trusted proxies. */
export type IsTrusted = (socket: Socket) => boolean

/** An address that no client has: a peer is trusted if its X-Forwarded-For makes this the client's address. */
const NOBODY = '0.0.0.1'

/** Makes the test; its result is kept for as long as the connection is. */
export function trustIn(trustedProxies: readonly string[]): IsTrusted {
  if (trustedProxies.length === 0) return () => false
  const address = clientAddress({ trustedProxies }, () => {})
  const known = new WeakMap<Socket, boolean>()
  return (socket) => {
    let trusted = known.get(socket)
    if (trusted === undefined) {
      trusted = address.of(socket.remoteAddress, NOBODY).ip === NOBODY
      known.set(socket, trusted)
    }
    return trusted
  }
}

/** Fields by which proxies name the client or the path that it asked for, or mark a request; applications rely on them. */
const FORWARDING: ReadonlySet<string> = new Set([
  'forwarded',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'x-original-url',
  'x-rewrite-url',
  'x-ratelimit-marked',
])

/**
 * Whether a field, by its lower-case name, is one that only proxies may send. Programs behind CGI do not tell `_` from
 * `-`, so neither does this.
 */
export function isForwarding(name: string): boolean {
  const plain = name.includes('_') ? name.replaceAll('_', '-') : name
  return plain.startsWith('x-forwarded-') || FORWARDING.has(plain)
}

/** Adds what this hop knows. `fields` has forwarding fields only from a trusted peer. */
export function addForwarding(
  fields: RawFields,
  { socket }: IncomingMessage,
  host: string | undefined,
): void {
  const peer = plainAddress(socket.remoteAddress)
  const proto = 'encrypted' in socket ? 'https' : 'http'
  if (peer !== undefined) {
    const earlier = fields.get('X-Forwarded-For')
    fields.set('X-Forwarded-For', earlier === undefined ? peer : `${earlier}, ${peer}`)
    const chain = fields.get('Forwarded')
    if (chain !== undefined) {
      const node = peer.includes(':') ? `"[${peer}]"` : peer
      fields.set('Forwarded', `${chain}, for=${node};proto=${proto}`)
    }
  }
  if (fields.get('X-Forwarded-Proto') === undefined) fields.add('X-Forwarded-Proto', proto)
  if (host !== undefined && fields.get('X-Forwarded-Host') === undefined)
    fields.add('X-Forwarded-Host', host)
}

/** IPv4 as IPv4, also on a socket of IPv6. */
function plainAddress(address: string | undefined): string | undefined {
  return address?.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
