// A progress bar on standard error: share done, speed and time left; nothing without a terminal.
import { count, percent, span } from './words.ts'
import type { TextOutput } from './streams.ts'

/** How far the reading of logs is. */
export interface Progress {
  readonly lines: number
  /** Bytes read from the disk, and all there are; undefined when that is not known. */
  readonly taken: number
  readonly size: number | undefined
}

const WIDTH = 24
/** Milliseconds between two drawings. */
const PAUSE = 100

/** Draws the progress of a replay over itself, and clears it at the end. */
export class ProgressBar {
  private readonly output: TextOutput
  private readonly now: () => number
  private readonly start: number
  private drawn = -Infinity
  private hasDrawn = false

  constructor(output: TextOutput, now: () => number = () => performance.now()) {
    this.output = output
    this.now = now
    this.start = now()
  }

  show(progress: Progress): void {
    const now = this.now()
    if (this.output.isTTY !== true || now - this.drawn < PAUSE) return
    this.drawn = now
    this.hasDrawn = true
    this.output.write(`\r\u001b[K${progressText(progress, now - this.start)}`)
  }

  end(): void {
    if (this.hasDrawn) this.output.write('\r\u001b[K')
  }
}

/** Such as `████░░░░ 42.0%  1,200,000 lines  310,000 lines/s  5 s left`. */
function progressText({ lines, taken, size }: Progress, elapsed: number): string {
  const rate = elapsed === 0 ? 0 : (lines / elapsed) * 1000
  const speed = `${count(lines)} lines  ${count(rate)} lines/s`
  if (size === undefined || size === 0) return speed
  const share = Math.min(1, taken / size)
  const full = Math.round(share * WIDTH)
  const left = share === 0 ? '' : `  ${span(Math.max(1000, elapsed / share - elapsed))} left`
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${percent(share)}  ${speed}${left}`
}
