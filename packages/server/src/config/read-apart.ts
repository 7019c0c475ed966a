// Reads a large file in a worker thread first, so that a bad file neither blocks requests nor exhausts the memory.
import { Worker } from 'node:worker_threads'
import type { Millis } from 'sluice'
import type { Environment } from './environment.ts'
import { sizeProblem } from './document.ts'
import type { ConfigProblem } from './problem.ts'

/** Characters from which on a file is worth a thread; smaller ones are read within milliseconds. */
const LARGE = 32_768
/** The heap of the thread, in MB. */
const MAX_HEAP = 192
/** How long the thread may take. */
const TIMEOUT: Millis = 60_000

const worker = new URL('read-apart-worker.js', import.meta.url)
/** Sources that are not compiled have no file that a thread could run. */
const hasWorker = import.meta.url.endsWith('.js')

/** Errors of a system that has no descriptors or threads left: they say nothing about the file. */
const SCARCE: ReadonlySet<string | undefined> = new Set([
  'EMFILE',
  'ENFILE',
  'EAGAIN',
  'ERR_WORKER_INIT_FAILED',
])

/** What a thread has found in a file. */
export interface ApartResult {
  readonly problems: readonly ConfigProblem[]
  /** False if the thread could not run, so that the file may have no problem at all. */
  readonly isRead: boolean
}

/** What is wrong with a large file; nothing for small ones, which the caller reads anyway. Never rejects. */
export async function problemsApart(
  text: string,
  file: string,
  environment: Environment = {},
): Promise<ApartResult> {
  // The size is checked here, since that is faster than starting a thread.
  if (text.length < LARGE || !hasWorker || sizeProblem(text) !== undefined)
    return { problems: [], isRead: true }
  const wrong = (message: string, isRead = true): ApartResult => ({
    problems: [{ file, path: '', message }],
    isRead,
  })
  return new Promise((resolve) => {
    const thread = new Worker(worker, {
      workerData: { text, file, environment: { ...environment } },
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP },
      execArgv: [],
    })
    const timer = setTimeout(() => {
      resolve(wrong('takes too long to read; accepted: a smaller file'))
      void thread.terminate()
    }, TIMEOUT)
    const settle = (result: ApartResult): void => {
      clearTimeout(timer)
      resolve(result)
    }
    thread.once('message', (problems: readonly ConfigProblem[]) =>
      settle({ problems, isRead: true }),
    )
    thread.once('error', ({ message, code }: NodeJS.ErrnoException) =>
      settle(wrong(`cannot be read: ${message}`, !SCARCE.has(code))),
    )
    thread.once('exit', () => settle(wrong('cannot be read: the reader ended early')))
  })
}
