// Retries a read that failed: a process without free file descriptors gets no notice of a changed file.
import type { Millis } from 'sluice'

/** How long until a file that could not be read is read again. */
const RETRY_AFTER: Millis = 1000

/** Repeats an attempt after a second, until it is closed. It does not keep the process alive. */
export class Retry {
  private readonly attempt: () => unknown
  private timer: NodeJS.Timeout | undefined
  private isClosed = false

  constructor(attempt: () => unknown) {
    this.attempt = attempt
  }

  /** Makes the attempt a second from now. */
  later(): void {
    if (this.isClosed) return
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void this.attempt(), RETRY_AFTER)
    this.timer.unref()
  }

  close(): void {
    clearTimeout(this.timer)
    this.isClosed = true
  }
}
