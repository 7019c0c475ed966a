// The worker: all decisions are made here, so that the page stays smooth with a million requests.
import { busiestKey, laneOf } from './compute.ts'
import { readLog } from './log-file.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { requestsOf, type Requests } from './requests.ts'

let log: Requests | undefined
let latest = 0

const say = (message: FromWorker): void => {
  globalThis.postMessage(message)
}

globalThis.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  const work = data.type === 'run' ? run(data) : read(data.file)
  work.catch((error: unknown) => say({ type: 'failed', message: (error as Error).message }))
})

async function run({ id, settings }: ToWorker & { readonly type: 'run' }): Promise<void> {
  latest = id
  const begun = performance.now()
  const requests = settings.traffic === 'log' && log !== undefined ? log : requestsOf(settings)
  const shown = requests.keys[busiestKey(requests)] ?? ''
  const { lasts } = requests
  for (const algorithm of settings.algorithms) {
    // Newer settings may have arrived: their message is handled first.
    await new Promise((resolve) => setTimeout(resolve))
    if (latest !== id) return
    const lane = laneOf(algorithm, settings, requests)
    say({ type: 'lane', id, lane, lasts, keys: requests.keys.length, shown })
  }
  say({ type: 'done', id, millis: performance.now() - begun })
}

async function read(file: File): Promise<void> {
  const { requests, summary } = await readLog(file, (share) => say({ type: 'reading', share }))
  log = requests
  say({ type: 'read', summary })
}
