// The terminal: one screen that is redrawn, or plain text without one; restored at the end.
import type { Screen } from './render.ts'

const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_REST = '\u001b[J'

/** Standard output, as a screen or as a stream. */
export class Terminal {
  /** Called when the size of the window changes. */
  onResize: () => void = () => {}
  private readonly isScreen: boolean
  private isOver = false
  private wake: () => void = () => {}

  constructor(isPlain: boolean) {
    const { stdout, env } = process
    this.isScreen = !isPlain && stdout.isTTY && env['TERM'] !== 'dumb'
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, this.end)
    // The reader closed the pipe, as `| head` does.
    stdout.on('error', this.end)
    if (!this.isScreen) return
    stdout.write(ENTER)
    stdout.on('resize', this.resized)
    process.once('exit', this.leave)
  }

  /** What fits. */
  get screen(): Screen {
    const { stdout, env } = process
    const colour = stdout.isTTY && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
    return {
      columns: Math.max(20, stdout.columns ?? (Number(env['COLUMNS']) || 80)),
      rows: this.isScreen ? Math.max(5, stdout.rows) : Infinity,
      colour,
    }
  }

  /** Shows these lines in the place of the last ones. */
  draw(lines: readonly string[]): void {
    if (this.isOver) return
    if (!this.isScreen) this.print(`${lines.join('\n')}\n`)
    else
      process.stdout.write(
        `${HOME}${lines.map((line) => line + CLEAR_LINE).join('\r\n')}${CLEAR_REST}`,
      )
  }

  print(text: string): void {
    if (!this.isOver) process.stdout.write(`${text}\n`)
  }

  /** Waits for so long; false if the command was ended meanwhile. */
  async pause(millis: number): Promise<boolean> {
    if (this.isOver) return false
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, millis)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    return !this.isOver
  }

  close(): void {
    this.isOver = true
    process.removeListener('exit', this.leave)
    process.stdout.removeListener('resize', this.resized)
    this.leave()
  }

  private readonly end = (): void => {
    this.isOver = true
    this.wake()
  }

  private readonly resized = (): void => this.onResize()

  private readonly leave = (): void => {
    if (this.isScreen) process.stdout.write(LEAVE)
  }
}
