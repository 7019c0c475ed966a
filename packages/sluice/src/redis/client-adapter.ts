// What the store needs of a Redis client, whatever library it is from.
import type { Millis } from '../time/clock.ts'

/** Scripts, the one kind of command that the store sends. */
export interface ScriptRunner {
  evalsha(hash: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  eval(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
}

/** A client of any library, as the store uses it. */
export interface ClientAdapter extends ScriptRunner {
  /** Whether keys are spread over slots that one call may not mix. */
  readonly cluster: boolean
  /** Whether the client has a connection. True if the client does not say. */
  isReady(): boolean
  /** Whether the client was closed, or was never told to connect: it will not connect by itself. */
  isClosed(): boolean
  /** Connects what otherwise connects with its first command: the client, the nodes of a cluster. Runs `progress` then. */
  wake(progress: () => void): void
  /** Whether every node of a cluster has a connection. True if the client does not say. */
  isWarm(): boolean
  /** Runs a function at each of these events, if the client has events. */
  on(events: readonly string[], run: () => void): void
  /** What the client's options show to be risky for a store with that deadline, in ms. */
  risks(timeout: Millis): readonly ClientRisk[]
  /** A second client of the same servers, already connecting. Undefined if the client cannot make one. */
  duplicate(): DuplicateClient | undefined
}

/** A setting of a client that does not fit a limiter. */
export type ClientRisk =
  /** Commands wait in the client while it has no connection. */
  | 'client-queues'
  /** Commands whose replies were lost are sent again. */
  | 'client-resends'

/** A client that the store has opened, and therefore closes. */
export interface DuplicateClient {
  readonly adapter: ClientAdapter
  /** Resolves when it has a connection. Rejects when it cannot connect. */
  readonly ready: Promise<unknown>
  close(): void
}
