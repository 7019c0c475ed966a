// What the page and its worker say to each other.
import type { Lane } from './compute.ts'
import type { LogSummary } from './log-file.ts'
import type { Settings } from './settings.ts'

/** To the worker. */
export type ToWorker =
  | { readonly type: 'run'; readonly id: number; readonly settings: Settings }
  | { readonly type: 'log'; readonly file: File }

/** From the worker. */
export type FromWorker =
  | {
      readonly type: 'lane'
      readonly id: number
      readonly lane: Lane
      readonly lasts: number
      readonly keys: number
      /** The key whose level is shown. */
      readonly shown: string
    }
  | { readonly type: 'done'; readonly id: number; readonly millis: number }
  | { readonly type: 'reading'; readonly share: number }
  | { readonly type: 'read'; readonly summary: LogSummary }
  | { readonly type: 'failed'; readonly message: string }
