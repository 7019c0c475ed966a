// What the lab tells a pod, and what a pod tells the lab.
import type { Address } from '../servers/resp.ts'

/** The clients through which every scenario runs. */
export const clientKinds = ['ioredis', 'node-redis'] as const
export type ClientKind = (typeof clientKinds)[number]

/** What a pod connects to. */
export type Target =
  | { readonly kind: 'one'; readonly address: Address }
  | { readonly kind: 'cluster'; readonly nodes: readonly Address[] }
  | { readonly kind: 'sentinel'; readonly name: string; readonly sentinels: readonly Address[] }

/** What a pod shall do: one process of an application. */
export interface Orders {
  readonly client: ClientKind
  readonly target: Target
  /** What its keys in Redis begin with: pods with the same prefix share their counts. */
  readonly prefix: string
  /** What its one-shot keys begin with, so that no other pod has the same. */
  readonly name: string
  readonly quota: number
  /** In ms. */
  readonly window: number
  readonly hotPerSecond: number
  /** Units that a request for the hot key asks for. */
  readonly hotCost: number
  readonly oncePerSecond: number
  /** Milliseconds after which the store gives a call up. */
  readonly timeout: number
  /** Connections, each with a limiter of its own. */
  readonly connections: number
  /** Begins the load as soon as the client is made, before it has connected. */
  readonly isImmediate?: boolean
  /** Only this long (in ms) a caller waits; then it aborts. */
  readonly patience?: number
  /** Whether the limit is leased. */
  readonly isLeased?: boolean
}

/** What the lab asks of a running pod. */
export type Request =
  | { readonly is: 'warm' }
  | { readonly is: 'load' }
  | { readonly is: 'block'; readonly milliseconds: number }
  | { readonly is: 'heap' }
  /** Whether the store has answered steadily since an instant of the lab's clock. */
  | { readonly is: 'steady'; readonly since: number }
  | { readonly is: 'time' }
  | { readonly is: 'end' }

/** What a pod says. */
export type Message =
  | { readonly is: 'ready' }
  /** Every connection stands: the store has answered each limiter. */
  | { readonly is: 'warm' }
  /** The hot key was refused by the store for the first time. */
  | { readonly is: 'spent' }
  | { readonly is: 'heap'; readonly live: number }
  | { readonly is: 'steady'; readonly isSteady: boolean }
  | { readonly is: 'time'; readonly wallClock: number }
  | { readonly is: 'end'; readonly record: PodRecord }

/** Every request of a pod, in the order in which they were made. */
export interface PodRecord {
  /** Instants at which the requests were made. */
  readonly at: Float64Array
  /** Milliseconds until they were answered. */
  readonly wait: Float32Array
  /** The number of the one-shot key, or -1 for the hot key. */
  readonly key: Int32Array
  readonly answer: Uint8Array
  /** Units of the hot key that the fallback admitted while a refusal of the store to the same limiter held. */
  readonly againstRefusal: number
  /** Why the fallback answered, and how often. */
  readonly causes: Readonly<Record<string, number>>
  readonly errors: readonly string[]
  readonly unhandled: readonly string[]
  /** When the pod's own event loop stood still: the beginning and the end of each time, one after the other. */
  readonly still: Float64Array
}

/** The bits of an answer. */
export const ALLOWED = 1
export const DEGRADED = 2
/** The caller got an error. */
export const FAILED = 4
/** The caller did not wait for the answer. */
export const ABORTED = 8

/** Answers of the store in a row by which it counts as back. */
export const STEADY = 20

/** The hot key of every pod. */
export const hotKey = 'hot'

/** The one-shot key with that number. */
export function onceKey(name: string, number: number): string {
  return `${name}-${number}`
}
