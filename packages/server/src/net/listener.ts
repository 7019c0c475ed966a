// What every open port can do, whichever protocol it serves.
import type { Millis } from 'sluice'

/** An open port. */
export interface Listener {
  /** Its protocol, such as `http`. */
  readonly name: string
  /** Where it is reached, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /**
   * Takes no new work, lets what has begun finish for at most `patience` milliseconds, and then cuts it off.
   * Resolves when nothing is open any more. By then health has been saying "not ready" for a while.
   */
  close(patience: Millis): Promise<void>
}
