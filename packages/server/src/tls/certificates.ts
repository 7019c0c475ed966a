// Keys and certificates of all listeners: read at the start, and again whenever their files change.
//
// A listener that wants TLS has `tls` (config/shape/tls.ts) in its shape and opens its port like this:
//
//   const tls = await context.certificates.open('admin', config.tls)   // undefined without `tls`
//   const server = httpServer({ ...limits }, handler, tls)             // net/http-server.ts; node:http or node:https
//
// For another kind of server: make it with `tls.options`, then call `tls.attach(server)`.
import type { Clock, Millis } from 'sluice'
import type { TlsConfig } from '../config/config.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { ReloadResult } from '../reload/reloader.ts'
import { Retry } from '../reload/retry.ts'
import { watchFile, type WatchOptions } from '../reload/watch-file.ts'
import type { Log } from '../log/log.ts'
import { ListenerTls } from './listener-tls.ts'
import { readTlsFiles, tlsBeside, type TlsFiles, type TlsProblem } from './tls-files.ts'
import { tlsMetrics, type TlsMetrics } from './tls-metrics.ts'
import { WARN_BEFORE } from './tls-review.ts'

const DAY: Millis = 86_400_000
const LOOK_EVERY: Millis = DAY / 2

/** What the certificates are read and watched with. */
export interface CertificateOptions {
  /** The configuration's file; relative paths start at its folder. */
  readonly file?: string | undefined
  readonly watch?: WatchOptions | false | undefined
  readonly metrics: MetricRegistry
  readonly log: Log
  /** Milliseconds since 1970. */
  readonly clock?: Clock
}

interface Entry {
  readonly listener: string
  readonly tls: ListenerTls
  readonly metrics: TlsMetrics
  lastProblem: string
}

/** The certificates of one service. */
export class Certificates {
  private readonly options: CertificateOptions
  private readonly clock: Clock
  private readonly metricsFor: (listener: string) => TlsMetrics
  private readonly entries: Entry[] = []
  private readonly watchers: { close(): void }[] = []
  private looking: NodeJS.Timeout | undefined
  private readonly retry = new Retry(() => this.reload())
  private last: Promise<unknown> = Promise.resolve()

  constructor(options: CertificateOptions) {
    this.options = options
    this.clock = options.clock ?? Date.now
    this.metricsFor = tlsMetrics(options.metrics)
  }

  /** Reads the files of a listener and follows them; rejects when they are wrong. Without TLS there is nothing. */
  async open(listener: string, config: TlsConfig | undefined): Promise<ListenerTls | undefined> {
    if (config === undefined) return undefined
    const beside = tlsBeside(config, this.options.file)
    const read = await readTlsFiles(beside)
    if ('problems' in read) throw new Error(sentences(listener, beside, read.problems).join('\n'))
    const metrics = this.metricsFor(listener)
    const tls = new ListenerTls(beside, read.files, metrics)
    const entry = { listener, tls, metrics, lastProblem: '' }
    metrics.expires.readFrom(() => tls.expires / 1000)
    this.entries.push(entry)
    this.warn(entry, read.files)
    this.watchFiles(entry)
    return tls
  }

  /** Reads all files again; those that are wrong stay as they were. Never rejects. */
  reload(): Promise<ReloadResult> {
    const next = this.last.then(async () => {
      const results = await Promise.all(this.entries.map((entry) => this.renew(entry)))
      if (results.includes('failed')) return 'failed'
      return results.includes('applied') ? 'applied' : 'unchanged'
    })
    this.last = next
    return next
  }

  close(): void {
    for (const watcher of this.watchers.splice(0)) watcher.close()
    clearInterval(this.looking)
    this.retry.close()
  }

  private watchFiles({ tls: { config } }: Entry): void {
    this.looking ??= setInterval(() => this.warnOfAge(), LOOK_EVERY).unref()
    const { watch } = this.options
    if (watch === false) return
    for (const path of [config.cert, config.key, config.ca]) {
      if (path === undefined) continue
      this.watchers.push(watchFile(path, () => void this.reload(), watch))
    }
  }

  private async renew(entry: Entry): Promise<ReloadResult> {
    const { listener, tls, metrics } = entry
    const read = await readTlsFiles(tls.config)
    if ('problems' in read) {
      if (read.problems.some(({ isUnread }) => isUnread)) this.retry.later()
      const problems = sentences(listener, tls.config, read.problems)
      // Files that cannot be read are read every second; the same problem is logged once.
      if (problems.join() !== entry.lastProblem) {
        metrics.notValid.add()
        this.options.log.error(
          { listener, problems },
          'the changed certificate is not valid; the old one stays',
        )
      }
      entry.lastProblem = problems.join()
      return 'failed'
    }
    entry.lastProblem = ''
    if (read.files.digest === tls.digest) return 'unchanged'
    tls.renew(read.files)
    metrics.applied.add()
    const expires = new Date(read.files.expires).toISOString()
    this.options.log.info({ listener, expires }, 'the changed certificate is in force')
    this.warn(entry, read.files)
    return 'applied'
  }

  private warn(entry: Entry, { exposed }: TlsFiles): void {
    if (exposed)
      this.options.log.warn(
        { listener: entry.listener, key: entry.tls.config.key },
        'every user of this machine can read the private key',
      )
    this.warnOf(entry)
  }

  private warnOfAge(): void {
    for (const entry of this.entries) this.warnOf(entry)
  }

  private warnOf({ listener, tls }: Entry): void {
    const left = tls.expires - this.clock()
    if (left >= WARN_BEFORE) return
    const expires = new Date(tls.expires).toISOString()
    const message = left <= 0 ? 'the certificate has expired' : 'the certificate expires soon'
    this.options.log.warn({ listener, expires, cert: tls.config.cert }, message)
  }
}

/** What is wrong, one line for each file. */
function sentences(
  listener: string,
  config: TlsConfig,
  problems: readonly TlsProblem[],
): readonly string[] {
  return problems.map(
    ({ field, reason }) =>
      `listeners.${listener}.tls.${field} is ${JSON.stringify(config[field])}; the file ${reason}`,
  )
}
