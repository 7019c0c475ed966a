// A short message after a change, with a way to undo it.
import { signal } from '@preact/signals'
import { shown } from '../words.ts'

interface Toast {
  readonly text: string
  readonly undo: (() => Promise<unknown>) | undefined
  readonly warnings: readonly string[]
}

const shownToast = signal<Toast | undefined>(undefined)
let timer: ReturnType<typeof setTimeout> | undefined

/** Shows a message for ten seconds; one with warnings until it is closed. */
export function toast(
  text: string,
  {
    undo,
    warnings = [],
  }: Partial<Pick<Toast, 'undo'>> & {
    readonly warnings?: readonly string[] | undefined
  } = {},
): void {
  clearTimeout(timer)
  shownToast.value = { text, undo, warnings }
  if (warnings.length === 0) timer = setTimeout(close, 10_000)
}

function close(): void {
  shownToast.value = undefined
}

export function Toasts() {
  const current = shownToast.value
  const undo = async (): Promise<void> => {
    try {
      await current?.undo?.()
      toast('Undone.')
    } catch (error) {
      toast(`It cannot be undone: ${(error as Error).message}`)
    }
  }
  return (
    <div class="toasts" role="status" aria-live="polite">
      {current !== undefined && (
        <div class="toast">
          <div>
            <p>{current.text}</p>
            {current.warnings.map((warning) => (
              <p key={warning}>Warning: {shown(warning, 500)}</p>
            ))}
          </div>
          {current.undo !== undefined && (
            <button type="button" onClick={() => void undo()}>
              Undo
            </button>
          )}
          {current.warnings.length > 0 && (
            <button type="button" onClick={close}>
              Close
            </button>
          )}
        </div>
      )}
    </div>
  )
}
