// The thread that reads a large file. It sends back only the mistakes in it.
import { parentPort, workerData } from 'node:worker_threads'
import type { Environment } from './environment.ts'
import { readConfig } from './read-config.ts'

/** Mistakes that are sent back. */
const MAX_PROBLEMS = 100

const { text, file, environment } = workerData as {
  readonly text: string
  readonly file: string
  readonly environment: Environment
}
parentPort?.postMessage(readConfig(text, file, environment).problems.slice(0, MAX_PROBLEMS))
