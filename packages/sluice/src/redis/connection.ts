// How a store reaches its server.
import type { Millis } from '../time/clock.ts'
import type { ClientAdapter } from './client-adapter.ts'
import { systemRedisEnvironment, type RedisEnvironment } from './environment.ts'
import { SharedConnection, type RunScript } from './shared-connection.ts'
import type { ProcessPauses } from './process-pauses.ts'

/** Runs scripts for a store, and reports when there is a new connection. */
export interface RedisConnection {
  readonly run: RunScript
  /** Runs a script by its text. */
  eval(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  /** Whether keys are spread over slots that one call may not mix. */
  readonly cluster: boolean
  /** How long the process was paused since its first call, until a store stops that with its first answer. */
  readonly pauses: ProcessPauses
  /** Calls a function whenever there is a new connection. Returns what ends that. */
  onReachable(run: () => void): () => void
  /** Closes the extra connections once no store uses it. The client itself stays open. */
  close(): void
}

/** Stores on one client share its connection, since Node warns of more than ten listeners. */
const connections = new WeakMap<object, SharedConnection>()

/** Opens the connection of a store whose deadline is `timeout`. `onNotOpen` is run once, at a first call by a client that is not open. */
export function connectionOf(
  client: object,
  adapter: ClientAdapter,
  timeout: Millis,
  environment: RedisEnvironment = systemRedisEnvironment,
  onNotOpen?: () => void,
): RedisConnection {
  let made = connections.get(client)
  if (made === undefined) {
    made = new SharedConnection(adapter, environment, onNotOpen)
    connections.set(client, made)
  }
  const shared = made
  const leave = shared.join(timeout)
  return {
    cluster: adapter.cluster,
    run: shared.run,
    eval: (script, keys, args) => shared.eval(script, keys, args),
    pauses: shared.pauses,
    onReachable(run) {
      shared.reachable.add(run)
      return () => void shared.reachable.delete(run)
    },
    close: leave,
  }
}
