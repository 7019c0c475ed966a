// A client that opens one connection for each question, over TLS.
import { request, type RequestOptions } from 'node:https'
import type { PeerCertificate, TLSSocket } from 'node:tls'

/** What came back, or the code of the error when nothing did. */
export interface SecureAnswer {
  readonly status?: number
  readonly error?: string
  /** The number of the server's certificate. */
  readonly serial?: string
  readonly protocol?: string | null
}

/** Options of node:https beside the address. */
export type SecureOptions = RequestOptions & { readonly session?: Buffer }

/** Asks once. */
export function ask(url: string, options: SecureOptions): Promise<SecureAnswer> {
  return new Promise((resolve) => {
    const asking = request(url, { agent: false, ...options }, (response) => {
      const socket = response.socket as TLSSocket
      const { serialNumber } = socket.getPeerCertificate() as PeerCertificate
      const [status, protocol] = [response.statusCode!, socket.getProtocol()]
      response.resume().on('end', () => resolve({ status, serial: serialNumber, protocol }))
    })
    asking.on('error', (error: NodeJS.ErrnoException) => resolve({ error: error.code ?? 'none' }))
    asking.end()
  })
}
