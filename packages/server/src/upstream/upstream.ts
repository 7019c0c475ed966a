// The upstream server: its address, the connections to it, and how many requests it may have at once.
import { Agent, request, type AgentOptions, type ClientRequest } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { isIP } from 'node:net'
import type { Millis } from 'sluice'
import type { RawFields } from './fields.ts'

/** How the upstream is reached. */
export interface UpstreamOptions {
  /** `http:` or `https:`, host and port. */
  readonly url: string
  readonly connectTimeout: Millis
  /** How long nothing may move between here and the upstream. */
  readonly timeout: Millis
  /** Most requests at once; there is no queue. */
  readonly maxRequests: number
  /** Whether its certificate must be valid, and which authorities are trusted besides those of the system. */
  readonly verify: boolean
  readonly ca?: string | undefined
}

/** Unused connections are kept for less than the 5 s after which many servers close them. */
const KEPT = 4000
const MAX_KEPT = 256

/** One upstream and its connections. */
export class Upstream {
  /** Host and port, as they stand in `Host`. */
  readonly authority: string
  readonly timeout: Millis
  readonly connectTimeout: Millis
  /** Requests and tunnels that are open now. */
  active = 0
  private readonly maxRequests: number
  private readonly isSecure: boolean
  private readonly agent: Agent
  private readonly newAgent: (pool: AgentOptions) => Agent
  private readonly target: { host: string; port: string | number; servername: string }

  constructor({ url, timeout, connectTimeout, maxRequests, verify, ca }: UpstreamOptions) {
    const { protocol, host, hostname, port } = new URL(url)
    const bare = hostname.replaceAll(/^\[|\]$/g, '')
    this.authority = host
    this.timeout = timeout
    this.connectTimeout = connectTimeout
    this.maxRequests = maxRequests
    this.isSecure = protocol === 'https:'
    const own = { rejectUnauthorized: verify, ...(ca === undefined ? {} : { ca }) }
    this.newAgent = (pool) =>
      this.isSecure ? new SecureAgent({ ...pool, ...own }) : new Agent(pool)
    this.agent = this.newAgent({ keepAlive: true, maxFreeSockets: MAX_KEPT, timeout: KEPT })
    // Without a name of its own, TLS would take the one in `Host`, which clients choose.
    const servername = isIP(bare) === 0 ? bare : ''
    this.target = { host: bare, port: port || (this.isSecure ? 443 : 80), servername }
  }

  get isFull(): boolean {
    return this.active >= this.maxRequests
  }

  /** Begins a request; `isFresh` asks for a connection that was not used before. */
  request(method: string, path: string, { raw }: RawFields, isFresh: boolean): ClientRequest {
    const send = this.isSecure ? secureRequest : request
    const { host, port, servername } = this.target
    return send({
      host,
      port,
      servername,
      method,
      path,
      headers: raw,
      agent: isFresh ? this.newAgent({ keepAlive: false }) : this.agent,
      timeout: this.timeout,
      insecureHTTPParser: false,
    })
  }

  /** Ends the connections that are not in use. */
  close(): void {
    this.agent.destroy()
  }
}
