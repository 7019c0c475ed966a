// The descriptor files of a running service: read at the start, and again whenever they change.
import { isDeepStrictEqual } from 'node:util'
import { problemText } from '../../config/problem.ts'
import type { ReloadResult } from '../../reload/reloader.ts'
import { Retry } from '../../reload/retry.ts'
import { watchFile, type WatchOptions } from '../../reload/watch-file.ts'
import type { Log } from '../../log/log.ts'
import type { DomainRegistry } from '../domains.ts'
import { InvalidFiles, loadDomains, type LoadedDomains, type LoadOptions } from './load.ts'

/** Keeps a registry in step with its files. */
export class DomainFiles {
  private readonly paths: readonly string[]
  private readonly options: LoadOptions
  private readonly registry: Pick<DomainRegistry, 'swap'>
  private readonly log: Log
  private loaded: LoadedDomains
  private watchers: readonly { close(): void }[] = []
  private watchOptions: WatchOptions | undefined
  private wrong: readonly string[] = []
  private readonly retry = new Retry(() => this.reloadAndWatch(this.watchOptions))
  /** Called when the files become wrong, wrong in another way, or right again. */
  onProblems: (() => void) | undefined

  /** Reads the files and puts them in force; throws {@link InvalidFiles}. */
  constructor(
    paths: readonly string[],
    options: LoadOptions,
    registry: Pick<DomainRegistry, 'swap'>,
    log: Log,
  ) {
    this.paths = paths
    this.options = options
    this.registry = registry
    this.log = log
    this.loaded = this.apply(loadDomains(paths, options))
  }

  /** Reads the files again. When one of them is wrong, all of them stay as they were. */
  reload(): ReloadResult {
    try {
      const loaded = loadDomains(this.paths, this.options)
      this.settle([])
      if (isDeepStrictEqual(loaded, this.loaded)) return 'unchanged'
      this.loaded = this.apply(loaded)
      this.log.info({ files: loaded.files }, 'the changed descriptor files are in force')
      return 'applied'
    } catch (error) {
      if (!(error instanceof InvalidFiles)) throw error
      if (error.isUnread) this.retry.later()
      const problems = error.problems.map(problemText)
      // Files that cannot be read are read every second; the same problem is logged once.
      if (this.settle(problems))
        this.log.error(
          { problems },
          'the changed descriptor files are not valid; the old ones stay',
        )
      return 'failed'
    }
  }

  /** Reads the files again when they change, until `close`. */
  watch(options?: WatchOptions): void {
    this.closeWatchers()
    this.watchOptions = options
    // A name beside each folder's files, too, so that new files are noticed.
    const names = new Set([...this.paths, ...this.loaded.files])
    this.watchers = [...names].map((name) =>
      watchFile(name, () => this.reloadAndWatch(options), options),
    )
  }

  close(): void {
    this.closeWatchers()
    this.retry.close()
  }

  /** What is wrong with the files as they were last read. */
  get problems(): readonly string[] {
    return this.wrong
  }

  /** Whether anything is new about what is wrong. */
  private settle(problems: readonly string[]): boolean {
    const isNew = !isDeepStrictEqual(problems, this.wrong)
    this.wrong = problems
    if (isNew) this.onProblems?.()
    return isNew
  }

  private closeWatchers(): void {
    for (const watcher of this.watchers) watcher.close()
  }

  private reloadAndWatch(options: WatchOptions | undefined): void {
    const { files } = this.loaded
    if (this.reload() !== 'applied' || this.watchers.length === 0) return
    if (!isDeepStrictEqual(files, this.loaded.files)) this.watch(options)
  }

  private apply(loaded: LoadedDomains): LoadedDomains {
    this.registry.swap(loaded.domains)
    for (const warning of loaded.warnings)
      this.log.warn({ trap: warning.code }, problemText(warning))
    return loaded
  }
}
