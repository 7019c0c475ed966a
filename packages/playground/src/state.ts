// The state of the page: what is set, what the worker has answered, and the address that carries it.
import { effect, signal } from '@preact/signals'
import type { Lane } from './compute.ts'
import type { LogSummary } from './log-file.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { clamped, fromFragment, toFragment, type NumberName, type Settings } from './settings.ts'
// oxlint-disable-next-line import/default -- Vite makes the export from the query.
import PlaygroundWorker from './worker.ts?worker&inline'

/** What the worker has answered to the last settings. */
export interface Shown {
  readonly lanes: readonly Lane[]
  readonly lasts: number
  readonly keys: number
  /** The key whose level is shown. */
  readonly key: string
}

export const settings = signal<Settings>(fromFragment(location.hash))
export const shown = signal<Shown>({ lanes: [], lasts: 0, keys: 0, key: '' })
export const log = signal<LogSummary | undefined>(undefined)
/** The share of a log that has been read; undefined when none is being read. */
export const reading = signal<number | undefined>(undefined)
export const problem = signal('')
export const isBusy = signal(true)

const worker = new PlaygroundWorker()
const say = (message: ToWorker): void => worker.postMessage(message)
let id = 0
let asked = ''
let lanes: Lane[] = []

/** Changes some settings. The burst follows the quota as long as they are equal. */
export function change(some: Partial<Settings>): void {
  const before = settings.value
  const follows = some.quota !== undefined && before.burst === before.quota
  settings.value = { ...before, ...(follows && { burst: some.quota! }), ...some }
}

/** Sets a number, within its range. */
export function setNumber(name: NumberName, value: number): void {
  change({ [name]: clamped(name, value) })
}

/** Reads a log. It stays in the page. */
export function open(file: File): void {
  problem.value = ''
  reading.value = 0
  say({ type: 'log', file })
}

worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
  if (data.type === 'reading') reading.value = data.share
  else if (data.type === 'read') {
    reading.value = undefined
    log.value = data.summary
    asked = ''
    change({ traffic: 'log' })
  } else if (data.type === 'failed') {
    reading.value = undefined
    isBusy.value = false
    problem.value = data.message
  } else if (data.id === id) {
    if (data.type === 'lane') lanes = [...lanes, data.lane]
    if (data.type === 'lane' && lanes.length === settings.value.algorithms.length)
      shown.value = { lanes, lasts: data.lasts, keys: data.keys, key: data.shown }
    if (data.type === 'done') isBusy.value = false
  }
})

// Everything but the instant that is looked at needs new decisions.
effect(() => {
  const { at: _, ...deciding } = settings.value
  const question = JSON.stringify(deciding)
  if (question === asked) return
  asked = question
  id += 1
  lanes = []
  isBusy.value = true
  say({ type: 'run', id, settings: settings.value })
})

let saving: ReturnType<typeof setTimeout> | undefined
effect(() => {
  const fragment = toFragment(settings.value)
  clearTimeout(saving)
  saving = setTimeout(() => {
    if (location.hash.slice(1) !== fragment)
      history.replaceState(null, '', fragment === '' ? location.pathname : `#${fragment}`)
  }, 150)
})

addEventListener('hashchange', () => {
  settings.value = fromFragment(location.hash)
})
