// The end of an event-loop turn, where the runtime has a name for it.

/** Runs a function after the input of this turn has been handled. */
export function afterTurn(run: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (run: () => void) => unknown }
  if (setImmediate === undefined) setTimeout(run, 0)
  else setImmediate(run)
}
