// One worker: a service like any other, except that the primary process reads the file and adds up the figures.
import { RequestError } from '../http/problem.ts'
import { createLog } from '../service/log.ts'
import { startService, type Service } from '../service/service.ts'
import type { OpenStore } from '../service/store.ts'
import { followPrimary } from './follow-primary.ts'
import type { FromWorker, StartError, StartWorker, ToWorker } from './messages.ts'
import { OwnerStore } from './owner-store.ts'
import type { SeatParts } from './seat.ts'

/** How long a start waits for the owner of the counts; the stand-in decides when it does not come. */
const OWNER_PATIENCE = 2000
/** So much of what was counted is lost at most when this process is killed. */
const TELL_EVERY = 1000
/** How long a scrape may wait for the other workers. */
const METRICS_PATIENCE = 2000

let service: Service | undefined
let parts: SeatParts | undefined
/** What the primary has told last, also while this worker is starting. */
let told: StartWorker
const scrapes = new Map<number, (text: string) => void>()

const tell = followPrimary<ToWorker, FromWorker>((message) => {
  switch (message.type) {
    case 'start':
      told = message
      void start(message)
      break
    case 'standing':
      told = { ...told, standing: message.standing }
      break
    case 'policies':
      told = { ...told, ...message, type: 'start' }
      parts?.swapPolicies(message.policies)
      break
    case 'domains':
      told = { ...told, domains: message.domains }
      parts?.swapDomains(message.domains)
      break
    case 'reload':
      void service?.reload()
      break
    case 'count':
      count(message.round)
      break
    case 'metrics':
      scrapes.get(message.id)?.(message.text)
      scrapes.delete(message.id)
      break
    case 'stop':
      void stop(message.delay)
      break
  }
})

async function start({ number, config, socket, file, watch }: StartWorker): Promise<void> {
  const log = createLog(config.log, undefined, { worker: number })
  try {
    const opened = socket === undefined ? undefined : await openOwner(socket)
    const source = file === undefined ? undefined : { file, digest: '', ...pick({ watch }) }
    service = await startService({
      config: { ...config, policies: told.policies },
      log,
      ...pick({ source }),
      seat: {
        ...pick({ opened, domains: told.domains }),
        generation: () => told.standing.reload.generation,
        detail: () => ({ ...told.standing.reload, workers: told.standing.workers }),
        metricsText,
        onParts: (given) => (parts = given),
      },
    })
  } catch (error) {
    const { message, code, address, port } = error as StartError
    const why: StartError = { message, ...pick({ code, address, port }) }
    process.send?.({ type: 'failed', error: why } satisfies FromWorker, () => process.exit(1))
    return
  }
  tell({ type: 'ready', listeners: service.listeners })
  setInterval(() => count(0), TELL_EVERY).unref()
}

/** The fields that are there. */
function pick<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(there) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

async function openOwner(socket: string): Promise<OpenStore> {
  const store = new OwnerStore(socket)
  await store.connected(OWNER_PATIENCE)
  return { store, memory: undefined, close: () => store.close() }
}

function count(round: number): void {
  if (parts !== undefined) tell({ type: 'counted', round, snapshot: parts.metrics.snapshot() })
}

let lastScrape = 0

/** Asks the primary. The figures of this worker alone would look like counters that went back. */
function metricsText(): Promise<string> {
  const id = ++lastScrape
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      scrapes.delete(id)
      reject(new RequestError(503, 'unavailable', 'the other workers did not answer; try again'))
    }, METRICS_PATIENCE)
    scrapes.set(id, (text) => {
      clearTimeout(timer)
      resolve(text)
    })
    tell({ type: 'metrics', id })
  })
}

async function stop(delay: number): Promise<void> {
  await service?.stop(delay)
  process.exit(0)
}
