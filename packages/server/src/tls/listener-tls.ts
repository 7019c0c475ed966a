// The TLS of one listener: what its server is made with, and newer certificates while it runs.
import type { Server, TlsOptions, TLSSocket } from 'node:tls'
import type { Millis } from 'sluice'
import type { TlsConfig } from '../config/config.ts'
import { isListed } from './client-names.ts'
import type { TlsFiles } from './tls-files.ts'
import type { TlsMetrics } from './tls-metrics.ts'

/** How long a client may take to agree on keys. */
const HANDSHAKE_TIMEOUT: Millis = 5000

/** TLS for the server of one listener. */
export class ListenerTls {
  readonly config: TlsConfig
  private files: TlsFiles
  private readonly metrics: TlsMetrics
  private readonly servers = new Set<Server>()

  constructor(config: TlsConfig, files: TlsFiles, metrics: TlsMetrics) {
    this.config = config
    this.files = files
    this.metrics = metrics
  }

  /** For `createServer` of node:https and `createSecureServer` of node:http2. */
  get options(): TlsOptions {
    return { ...this.context, ...this.asking, handshakeTimeout: HANDSHAKE_TIMEOUT }
  }

  get digest(): string {
    return this.files.digest
  }

  /** In milliseconds since 1970. */
  get expires(): number {
    return this.files.expires
  }

  /**
   * Hands newer certificates to a server until it closes, counts its handshakes, and rejects clients that show a wrong
   * certificate. To be called right after the server is made.
   */
  attach(server: Server): void {
    this.servers.add(server)
    server.once('close', () => this.servers.delete(server))
    server.on('tlsClientError', () => this.metrics.failed.add())
    // In front of the server's own listeners, which would answer a request that came along with the handshake.
    const serve = server.listeners('secureConnection')
    server.removeAllListeners('secureConnection')
    server.on('secureConnection', (socket) => {
      if (this.admits(socket)) for (const listener of serve) listener.call(server, socket)
      else socket.destroy()
    })
  }

  /** Connections that are open stay as they are; the next ones see the new certificate. */
  renew(files: TlsFiles): void {
    this.files = files
    for (const server of this.servers) server.setSecureContext(this.context)
  }

  private get context() {
    const { cert, key, ca } = this.files
    const { minVersion } = this.config
    return { cert, key, minVersion, ...(ca === undefined ? {} : { ca }) }
  }

  private get asking() {
    const { ca, clients = 'required' } = this.config
    return { requestCert: ca !== undefined, rejectUnauthorized: clients === 'required' }
  }

  /** Whether the client's certificate has a name that is on the list, if there is one. */
  private hasName(socket: TLSSocket): boolean {
    const { clientNames } = this.config
    return clientNames === undefined || isListed(socket.getPeerCertificate(), clientNames)
  }

  /** A client without a certificate is accepted where it is optional; a wrong certificate never is. */
  private admits(socket: TLSSocket): boolean {
    const { verified, anonymous, failed } = this.metrics
    const isWrong =
      this.config.ca !== undefined &&
      socket.getPeerX509Certificate() !== undefined &&
      !(socket.authorized && this.hasName(socket))
    const counter = isWrong ? failed : socket.authorized ? verified : anonymous
    counter.add()
    return !isWrong
  }
}
