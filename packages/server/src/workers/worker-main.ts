// One worker: a service like any other, except that the primary process reads the file and adds up the figures.
import type { KeySource } from '../store/key-source.ts'
import { hasAdmin } from '../admin/start-admin.ts'
import { createLog } from '../log/log.ts'
import { startService, type Service } from '../service/service.ts'
import type { OpenStore } from '../store/open-store.ts'
import { followPrimary } from './follow-primary.ts'
import type { FromWorker, StartError, StartWorker, ToWorker } from './messages.ts'
import { OwnerStore } from './owner-store.ts'
import { Asker } from './questions.ts'
import type { SeatParts } from '../service/worker-context.ts'
import { AskedControls } from './shared-controls.ts'

/** How long a start waits for the owner of the counts; the stand-in decides when it does not come. */
const OWNER_PATIENCE = 2000
/** So much of what was counted is lost at most when this process is killed. */
const TELL_EVERY = 1000

let service: Service | undefined
let parts: SeatParts | undefined
/** What the primary has told last, also while this worker is starting. */
let told: StartWorker
const asker = new Asker((ask) => tell(ask))

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
    case 'answer':
      asker.hear(message)
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
    const controls = opened !== undefined && hasAdmin(config) ? new AskedControls(asker) : undefined
    const source = file === undefined ? undefined : { file, digest: '', ...pick({ watch }) }
    service = await startService({
      config: { ...config, policies: told.policies },
      log,
      ...pick({ source }),
      seat: {
        ...pick({ opened, controls, domains: told.domains }),
        generation: () => told.standing.reload.generation,
        detail: () => ({ ...told.standing.reload, workers: told.standing.workers }),
        // The figures of this worker alone would look like counters that went back.
        metricsText: () => asker.ask('metrics', {}),
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
  const look: KeySource['look'] = (places, at) => asker.ask('keys', { places, at })
  const keys = { start: '0.0', look }
  return { store, memory: undefined, keys, close: () => store.close() }
}

function count(round: number): void {
  if (parts !== undefined) tell({ type: 'counted', round, snapshot: parts.metrics.snapshot() })
}

async function stop(delay: number): Promise<void> {
  await service?.stop(delay)
  process.exit(0)
}
