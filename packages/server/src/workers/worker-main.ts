// One worker: a service like any other, except that the primary process reads the file and adds up the metrics.
import { createLog } from '../log/log.ts'
import { startService, type Service } from '../service/service.ts'
import type { WorkerControls } from '../service/worker-context.ts'
import type { FromWorker, StartError, StartWorker, ToWorker } from './messages.ts'
import { MetricsRequests } from './metrics-requests.ts'

/** How often metrics are sent: if this process is killed, at most the counts of that time are lost. */
const SNAPSHOT_EVERY = 1000

/** Signals that a terminal or a supervisor sends to the whole process group. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

let service: Service | undefined
/** A reload was asked for while this worker was starting, which may have read the files as they were before. */
let mustReload = false
let controls: WorkerControls | undefined
/** The newest state that the primary has sent, also while this worker is starting. */
let state: StartWorker
let tellPortsClosed!: () => void
const portsClosed = new Promise<void>((resolve) => (tellPortsClosed = resolve))

const send = followPrimary((message) => {
  switch (message.type) {
    case 'start':
      state = message
      void start(message)
      break
    case 'status':
      state = { ...state, status: message.status }
      break
    case 'policies':
      state = { ...state, ...message, type: 'start' }
      controls?.swapPolicies(message.policies)
      break
    case 'domains':
      state = { ...state, domains: message.domains }
      controls?.swapDomains(message.domains)
      break
    case 'reload':
      if (service === undefined) mustReload = true
      else void service.reload()
      break
    case 'get-snapshot':
      sendSnapshot(message.round)
      break
    case 'metrics':
      requests.receive(message.id, message.text)
      break
    case 'stop':
      void stop(message.delay)
      break
    case 'ports-closed':
      tellPortsClosed()
      break
  }
})
const requests = new MetricsRequests((id, names) => send({ type: 'get-metrics', id, names }))

async function start({ number, config, file, watch }: StartWorker): Promise<void> {
  const log = createLog(config.log, undefined, { worker: number })
  const source = file === undefined ? undefined : { file, digest: '', ...definedOf({ watch }) }
  try {
    service = await startService({
      config: { ...config, policies: state.policies },
      log,
      ...definedOf({ source }),
      worker: {
        ...definedOf({ domains: state.domains }),
        generation: () => state.status.reload.generation,
        detail: () => ({ ...state.status.reload, workers: state.status.workers }),
        // The metrics of this worker alone would look like counters that went back.
        metricsText: (names) => requests.text(names),
        onStarted: (given) => (controls = given),
      },
    })
  } catch (error) {
    const { message, code, address, port } = error as StartError
    const why: StartError = { message, ...definedOf({ code, address, port }) }
    process.send?.({ type: 'failed', error: why } satisfies FromWorker, () => process.exit(1))
    return
  }
  if (mustReload) void service.reload()
  send({ type: 'ready', listeners: service.listeners })
  setInterval(() => sendSnapshot(0), SNAPSHOT_EVERY).unref()
}

/** The fields that are not undefined. */
function definedOf<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

function sendSnapshot(round: number): void {
  if (controls !== undefined)
    send({ type: 'snapshot', round, snapshot: controls.metrics.snapshot() })
}

async function stop(delay: number): Promise<void> {
  await service?.stop(delay, portsClosed)
  process.exit(0)
}

/** Receives the primary's messages, and returns the function that sends messages to it. */
export function followPrimary(receive: (message: ToWorker) => void): (message: FromWorker) => void {
  // The primary has received the signal too, and decides when its workers end.
  for (const signal of SIGNALS) process.on(signal, () => {})
  process.on('disconnect', () => process.exit(0))
  process.on('message', (message) => receive(message as ToWorker))
  const send = (message: FromWorker): void => {
    if (process.connected) process.send?.(message, undefined, {}, () => {})
  }
  // Node's cluster loses messages that arrive before the listener is there: the primary waits for this one.
  send({ type: 'hello' })
  return send
}
