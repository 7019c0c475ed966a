// A short message after a change, with a way to undo it.
import { signal } from '@preact/signals'

interface Toast {
  readonly text: string
  readonly undo: (() => Promise<unknown>) | undefined
}

const shownToast = signal<Toast | undefined>(undefined)
let timer: ReturnType<typeof setTimeout> | undefined

/** Shows a message for ten seconds. */
export function toast(text: string, undo?: () => Promise<unknown>): void {
  clearTimeout(timer)
  shownToast.value = { text, undo }
  timer = setTimeout(() => {
    shownToast.value = undefined
  }, 10_000)
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
        <p class="toast">
          {current.text}
          {current.undo !== undefined && (
            <button type="button" onClick={() => void undo()}>
              Undo
            </button>
          )}
        </p>
      )}
    </div>
  )
}
