// How another protocol serves a path of the HTTP port without knowing the API beside it.
import type { ServerResponse } from 'node:http'
import type { Handler, PortState } from './http-listener.ts'

/** How a mounted route reports its answers. */
export interface MountedReply {
  /** Counts an answer that the route has sent itself. */
  readonly onAnswer: (status: number) => void
  /** Answers an error as a problem, logs it if it is a fault of ours, and counts it. */
  readonly onError: (response: ServerResponse, error: unknown) => void
  readonly port: PortState
}

/** A path of the HTTP port that another protocol serves. */
export interface MountedRoute {
  readonly path: string
  /** The accepted methods. Default: GET and HEAD. */
  readonly methods?: readonly string[]
  readonly createHandler: (reply: MountedReply) => Handler
}
