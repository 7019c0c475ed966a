// Loads what a page needs, and shows that it is loading, or why it could not.
import { useEffect, useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { VerdictBox } from './verdict-box.tsx'

/** The state of something that is being loaded. */
export interface Loaded<T> {
  readonly value: T | undefined
  readonly error: string | undefined
  readonly again: () => void
}

/** Loads at once and whenever the inputs change; with `every`, again after so many milliseconds. */
export function useLoad<T>(
  load: () => Promise<T>,
  inputs: readonly unknown[],
  every?: number,
): Loaded<T> {
  const [value, setValue] = useState<T>()
  const [error, setError] = useState<string>()
  const [round, setRound] = useState(0)
  useEffect(() => {
    let isWanted = true
    const run = async (): Promise<void> => {
      try {
        const loaded = await load()
        if (!isWanted) return
        setValue(loaded)
        setError(undefined)
      } catch (problem) {
        if (isWanted) setError((problem as Error).message)
      }
    }
    void run()
    const timer = every === undefined ? undefined : setInterval(() => void run(), every)
    return () => {
      isWanted = false
      clearInterval(timer)
    }
  }, [...inputs, round])
  return { value, error, again: () => setRound((last) => last + 1) }
}

/** Shows the value, or what there is instead. */
export function Loading<T>({
  of,
  children,
}: {
  readonly of: Loaded<T>
  readonly children: (value: T) => ComponentChildren
}) {
  const { value, error, again } = of
  return (
    <>
      {error !== undefined && (
        <VerdictBox state="bad" name="Problem">
          <p class="headline" role="alert">
            {error}
          </p>
          <p>
            <button type="button" onClick={again}>
              Try again
            </button>
          </p>
        </VerdictBox>
      )}
      {value !== undefined && children(value)}
      {value === undefined && error === undefined && (
        <div class="skeleton" role="status" aria-label="Loading…" />
      )}
    </>
  )
}
