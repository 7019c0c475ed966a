// A worker's requests to the primary for the metrics of all processes.
import type { Millis } from 'sluice'
import { RequestError } from '../net/problem.ts'

/** How long the primary may take to answer. */
const ANSWER_TIMEOUT: Millis = 2000

/** Sends requests and matches their answers by number. */
export class MetricsRequests {
  private readonly send: (id: number, names: readonly string[] | undefined) => void
  private readonly waiting = new Map<number, (text: string) => void>()
  private last = 0

  constructor(send: (id: number, names: readonly string[] | undefined) => void) {
    this.send = send
  }

  /** The metrics of all processes, or those with one of the names. Rejects with a 503 when the primary does not answer in time. */
  text(names?: ReadonlySet<string>): Promise<string> {
    const id = ++this.last
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id)
        const detail = 'the primary process did not answer; try again'
        reject(new RequestError(503, 'unavailable', detail))
      }, ANSWER_TIMEOUT)
      this.waiting.set(id, (text) => {
        clearTimeout(timer)
        resolve(text)
      })
      this.send(id, names && [...names])
    })
  }

  /** The answer to a request; one that comes too late changes nothing. */
  receive(id: number, text: string): void {
    this.waiting.get(id)?.(text)
    this.waiting.delete(id)
  }
}
