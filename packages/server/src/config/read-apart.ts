// Reads a large file in a thread of its own first: whatever it holds, requests go on and the memory of the service is safe.
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

/** What is wrong with a large file; nothing for small ones, which the caller reads anyway. Never rejects. */
export async function problemsApart(
  text: string,
  file: string,
  environment: Environment = {},
): Promise<readonly ConfigProblem[]> {
  // What is too large is found sooner than a thread starts.
  if (text.length < LARGE || !hasWorker || sizeProblem(text) !== undefined) return []
  const wrong = (message: string): readonly ConfigProblem[] => [{ file, path: '', message }]
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
    const settle = (problems: readonly ConfigProblem[]): void => {
      clearTimeout(timer)
      resolve(problems)
    }
    thread.once('message', settle)
    thread.once('error', ({ message }) => settle(wrong(`cannot be read: ${message}`)))
    thread.once('exit', () => settle(wrong('cannot be read: the reader ended early')))
  })
}
