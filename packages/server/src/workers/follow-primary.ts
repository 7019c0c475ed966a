// What all children of the primary process do: hear its word alone, and end when it does.
import type { Hello } from './messages.ts'

/** Signals that a terminal or a supervisor sends to the whole group. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Hears the primary's messages, and gives what sends messages to it. */
export function followPrimary<To, From extends object>(
  hear: (message: To) => void,
): (message: From) => void {
  // The primary has got it too, and says when which child is to end.
  for (const signal of SIGNALS) process.on(signal, () => {})
  process.on('disconnect', () => process.exit(0))
  process.on('message', (message) => hear(message as To))
  const tell = (message: object): void => {
    if (process.connected) process.send?.(message, undefined, {}, () => {})
  }
  // What was sent before anybody listened is lost in Node's cluster: now it may begin.
  tell({ type: 'hello' } satisfies Hello)
  return tell
}
