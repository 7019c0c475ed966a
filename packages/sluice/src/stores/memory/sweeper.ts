// The one timer of a memory store: gives memory back when no traffic does.

/** Something that forgets expired keys a little at a time, and says whether there is much more to forget. */
export interface Sweepable {
  sweep(): boolean
}

const PERIOD = 1000

/**
 * Sweeps every second, and again at once while a sweep finds much to forget. Holds the store weakly and
 * never keeps the process alive. The timer is made here and now, not during a request, so that it
 * retains no request's async context. Returns what stops it.
 */
export function startSweeping(store: Sweepable): () => void {
  // Workers with a compatibility date before 2025-05-05 have no WeakRef. There, expiry goes along with new keys alone.
  if (typeof WeakRef === 'undefined') return () => {}
  const target = new WeakRef(store)
  let again: ReturnType<typeof setTimeout> | undefined
  const tick = (): void => {
    again = undefined
    const store = target.deref()
    if (store === undefined) stop()
    else if (store.sweep()) again = unref(setTimeout(tick, 0))
  }
  const timer = timerOf(() => {
    if (again === undefined) tick()
  })
  const stop = (): void => {
    clearInterval(timer)
    clearTimeout(again)
  }
  return stop
}

/** Some edge runtimes allow no timers outside a request: there, expiry goes along with new keys alone. */
function timerOf(tick: () => void): ReturnType<typeof setInterval> | undefined {
  try {
    return unref(setInterval(tick, PERIOD))
  } catch {
    return undefined
  }
}

function unref<T>(timer: T): T {
  ;(timer as { unref?: () => void }).unref?.()
  return timer
}
