// Closes idle connections: those without a preface, without an answer to a ping, or without a call for a long time.
import type { Http2Session } from 'node:http2'
import type { Millis } from 'sluice'
import { networkOf } from '../../net/limit-connections.ts'

/** How long sessions may take, in milliseconds. */
export interface SessionTimeouts {
  /** From the connection to the client's preface and SETTINGS. Default 5 s. */
  readonly handshakeTimeout?: Millis | undefined
  /** How long a client may be silent before it is sent a ping. Default 30 s. */
  readonly pingInterval?: Millis | undefined
  /** How long the answer to a ping may take. Default 20 s. */
  readonly pingTimeout?: Millis | undefined
  /** How long a session may have no call before it is closed. Default 15 minutes. */
  readonly idleTimeout?: Millis | undefined
}

/** What is known of one session. */
export interface SessionState {
  /** Bytes of messages that have not fully arrived. */
  buffered: number
  /** The network of the client's address. */
  readonly network: string
  /** Calls that have not ended. */
  calls: number
  isReady: boolean
  /** When the client last sent a call or the answer to a ping. */
  heardAt: Millis
  /** When the last call began or ended. */
  usedAt: Millis
  pingedAt: Millis | undefined
}

/** The open sessions of one listener. */
export class SessionLimits {
  private readonly states = new Map<Http2Session, SessionState>()
  private readonly handshakeTimeout: Millis
  private readonly pingInterval: Millis
  private readonly pingTimeout: Millis
  private readonly idleTimeout: Millis

  constructor(timeouts: SessionTimeouts) {
    this.handshakeTimeout = timeouts.handshakeTimeout ?? 5000
    this.pingInterval = timeouts.pingInterval ?? 30_000
    this.pingTimeout = timeouts.pingTimeout ?? 20_000
    this.idleTimeout = timeouts.idleTimeout ?? 900_000
  }

  add(session: Http2Session, now: Millis): void {
    const state: SessionState = {
      buffered: 0,
      network: networkOf(session.socket.remoteAddress),
      calls: 0,
      isReady: false,
      heardAt: now,
      usedAt: now,
      pingedAt: undefined,
    }
    this.states.set(session, state)
    session.once('remoteSettings', () => (state.isReady = true))
    session.once('close', () => this.states.delete(session))
  }

  /** The state of a session; undefined once it is closed. */
  get(session: Http2Session | undefined): SessionState | undefined {
    return session === undefined ? undefined : this.states.get(session)
  }

  all(): IterableIterator<Http2Session> {
    return this.states.keys()
  }

  /** Ends the sessions whose time is over, and pings those that have been silent. */
  sweep(now: Millis): void {
    for (const [session, state] of this.states) this.examine(session, state, now)
  }

  private examine(session: Http2Session, state: SessionState, now: Millis): void {
    const { isReady, pingedAt, heardAt, usedAt, calls } = state
    if (!isReady) {
      if (now - heardAt >= this.handshakeTimeout) session.destroy()
    } else if (pingedAt !== undefined) {
      if (now - pingedAt >= this.pingTimeout) session.destroy()
    } else if (calls === 0 && now - usedAt >= this.idleTimeout) session.close()
    else if (now - heardAt >= this.pingInterval) this.ping(session, state, now)
  }

  private ping(session: Http2Session, state: SessionState, now: Millis): void {
    if (session.destroyed) return
    state.pingedAt = now
    session.ping((error) => {
      if (error !== null) return
      state.pingedAt = undefined
      state.heardAt = performance.now()
    })
  }
}
