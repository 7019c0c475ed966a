// What the primary process and its children tell each other.
import type { Policy } from 'sluice'
import type { Config } from '../config/config.ts'
import type { DomainConfig } from '../envoy/descriptors/domain-config.ts'
import type { Snapshot } from '../metrics/sum.ts'
import type { ReloadStatus } from '../reload/reloader.ts'
import type { WatchOptions } from '../reload/watch-file.ts'
import type { Listener } from '../net/listener.ts'
import type { Answer, Ask } from './questions.ts'

/** How many workers there are to be, and how many want traffic. */
interface WorkersStatus {
  readonly wanted: number
  readonly ready: number
}

/** What is in force in the whole service; every worker says the same of it. */
export interface Standing {
  readonly reload: ReloadStatus
  readonly workers: WorkersStatus
}

/** The first message to a worker: everything it needs. */
export interface StartWorker {
  readonly type: 'start'
  /** From 1. */
  readonly number: number
  /** For one worker: its part of what the file grants the whole service. */
  readonly config: Config
  readonly policies: readonly Policy[]
  readonly standing: Standing
  /** Where the owner of the counts answers; absent when they are in Redis. */
  readonly socket?: string
  readonly domains?: readonly DomainConfig[]
  readonly file?: string
  readonly watch?: WatchOptions | false
}

/** What the primary tells a worker. */
export type ToWorker =
  | StartWorker
  | { readonly type: 'standing'; readonly standing: Standing }
  | { readonly type: 'policies'; readonly policies: readonly Policy[]; readonly standing: Standing }
  | { readonly type: 'domains'; readonly domains: readonly DomainConfig[] }
  /** Certificates are each worker's own to read. */
  | { readonly type: 'reload' }
  | Count
  | Answer
  | { readonly type: 'stop'; readonly delay: number }

/** What a worker tells the primary. */
export type FromWorker =
  | Hello
  | { readonly type: 'ready'; readonly listeners: readonly Pick<Listener, 'name' | 'url'>[] }
  /** It cannot start, and ends. */
  | { readonly type: 'failed'; readonly error: StartError }
  | Counted
  | Ask

/** The first message to the owner of the counts. */
export interface StartOwner {
  readonly type: 'start'
  readonly socket: string
  readonly maxKeys: number
}

/** What the primary tells the owner. */
export type ToOwner = StartOwner | Count | Ask | { readonly type: 'stop' }

/** What the owner tells the primary. */
export type FromOwner = Hello | { readonly type: 'ready' } | Counted | Answer

/** A process has begun to listen, and waits for the message that starts it. */
export interface Hello {
  readonly type: 'hello'
}

/** Asks a process for its figures. */
interface Count {
  readonly type: 'count'
  /** Comes back with the answer. */
  readonly round: number
}

/** The figures of a process, asked for or, with round 0, not. */
interface Counted {
  readonly type: 'counted'
  readonly round: number
  readonly snapshot: Snapshot
}

/** An error, as far as it travels. */
export interface StartError {
  readonly message: string
  readonly code?: string
  readonly address?: string
  readonly port?: number
}
