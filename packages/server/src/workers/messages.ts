// The messages between the primary process and its workers.
import type { Policy } from 'sluice'
import type { Config } from '../config/config.ts'
import type { DomainConfig } from '../envoy/descriptors/domain-config.ts'
import type { Snapshot } from '../metrics/sum.ts'
import type { Listener } from '../net/listener.ts'
import type { ReloadStatus } from '../reload/reloader.ts'
import type { WatchOptions } from '../reload/watch-file.ts'

/** The state of the whole service, the same in every worker. */
export interface ServiceStatus {
  readonly reload: ReloadStatus
  /** How many workers are configured, and how many are ready for traffic. */
  readonly workers: { readonly wanted: number; readonly ready: number }
}

/** The first message to a worker: everything it needs. */
export interface StartWorker {
  readonly type: 'start'
  /** From 1. */
  readonly number: number
  /** With this worker's share of what the file grants the whole service. */
  readonly config: Config
  readonly policies: readonly Policy[]
  readonly status: ServiceStatus
  readonly domains?: readonly DomainConfig[]
  readonly file?: string
  readonly watch?: WatchOptions | false
}

/** A message from the primary to a worker. */
export type ToWorker =
  | StartWorker
  | { readonly type: 'status'; readonly status: ServiceStatus }
  | {
      readonly type: 'policies'
      readonly policies: readonly Policy[]
      readonly status: ServiceStatus
    }
  | { readonly type: 'domains'; readonly domains: readonly DomainConfig[] }
  /** Each worker reads its certificates itself. */
  | { readonly type: 'reload' }
  /** Asks for a snapshot of the worker's metrics; `round` comes back with it. */
  | { readonly type: 'get-snapshot'; readonly round: number }
  /** The metrics of all processes, for the request of that number. */
  | { readonly type: 'metrics'; readonly id: number; readonly text: string }
  | { readonly type: 'stop'; readonly delay: number }
  /** After 'stop': the shared ports take no more connections, and those that they took are handed over. */
  | { readonly type: 'ports-closed' }

/** A message from a worker to the primary. */
export type FromWorker =
  /** The process has started and waits for its start message. */
  | { readonly type: 'hello' }
  | { readonly type: 'ready'; readonly listeners: readonly Pick<Listener, 'name' | 'url'>[] }
  /** The worker cannot start, and ends. */
  | { readonly type: 'failed'; readonly error: StartError }
  /** Its metrics, sent every second with round 0: also the sign that it does not hang. */
  | { readonly type: 'snapshot'; readonly round: number; readonly snapshot: Snapshot }
  /** Asks for the metrics of all processes; with names, for those that have one of them. */
  | {
      readonly type: 'get-metrics'
      readonly id: number
      readonly names?: readonly string[] | undefined
    }

/** The fields of an error that reach the primary. */
export interface StartError {
  readonly message: string
  readonly code?: string
  readonly address?: string
  readonly port?: number
}
