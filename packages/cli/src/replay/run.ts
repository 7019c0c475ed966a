// Feeds logs to a replay, the one that lags behind first, so that logs of several servers or days are merged.
import type { LogInput } from '../logs/input.ts'
import type { Progress } from '../terminal/progress.ts'
import type { Replay } from './replay.ts'

/** How a replay is watched and ended. */
export interface RunOptions {
  /** Ends the replay early; what was read until then counts. */
  readonly signal?: AbortSignal
  /** Called after each chunk. */
  readonly onProgress?: (progress: Progress) => void
}

/** What is known when all logs are read. */
export interface RunResult {
  readonly stopped: boolean
  /** What was wrong with compressed data. */
  readonly damaged: readonly string[]
}

/** Reads all logs to their end, or until the signal. Rejects with `Mistake` and what reading rejects with. */
export async function run<T>(
  replay: Replay<T>,
  inputs: readonly LogInput[],
  { signal, onProgress }: RunOptions = {},
): Promise<RunResult> {
  const open = new Set(
    inputs.map((input) => ({
      source: replay.add(input.name),
      chunks: input.chunks[Symbol.asyncIterator](),
    })),
  )
  const sizes = inputs.map(({ size }) => size)
  const size = sizes.some((one) => one === undefined)
    ? undefined
    : sizes.reduce((sum: number, one) => sum + (one ?? 0), 0)
  // A pipe may stay open without sending a byte; the signal must not wait for the next one.
  const close = (): void => {
    for (const input of inputs) input.close()
  }
  signal?.addEventListener('abort', close)
  try {
    while (open.size > 0 && signal?.aborted !== true) {
      const next = [...open].reduce((a, b) => (b.source.newest < a.source.newest ? b : a))
      const chunk = await nextChunk(next.chunks, signal)
      if (chunk === undefined) break
      if (chunk.done === true) {
        next.source.end()
        open.delete(next)
      } else next.source.feed(chunk.value)
      replay.advance()
      onProgress?.({
        lines: replay.sources.reduce((sum, { lines }) => sum + lines, 0),
        taken: inputs.reduce((sum, input) => sum + input.taken(), 0),
        size,
      })
    }
    const stopped = open.size > 0
    for (const { source } of open) source.end()
    return { stopped, damaged: inputs.flatMap((input) => input.problem() ?? []) }
  } finally {
    signal?.removeEventListener('abort', close)
    for (const { chunks } of open) await chunks.return?.()
    replay.finish()
  }
}

/** The next bytes; undefined when the signal ended the reading. */
async function nextChunk(
  chunks: AsyncIterator<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<IteratorResult<Uint8Array> | undefined> {
  try {
    const chunk = await chunks.next()
    return chunk.done === true && signal?.aborted === true ? undefined : chunk
  } catch (error) {
    if (signal?.aborted === true) return undefined
    throw error
  }
}
