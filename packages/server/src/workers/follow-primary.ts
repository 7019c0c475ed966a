// Connects a worker to the primary process: only its messages count, and the worker ends when it does.
import type { FromWorker, ToWorker } from './messages.ts'

/** Signals that a terminal or a supervisor sends to the whole process group. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Receives the primary's messages, and returns the function that sends messages to it. */
export function followPrimary(receive: (message: ToWorker) => void): (message: FromWorker) => void {
  // The primary has received the signal too, and decides when its workers end.
  for (const signal of SIGNALS) process.on(signal, () => {})
  process.on('disconnect', () => process.exit(0))
  process.on('message', (message) => receive(message as ToWorker))
  const send = (message: FromWorker): void => {
    if (process.connected) process.send?.(message, undefined, {}, () => {})
  }
  // Node's cluster loses messages that arrive before the listener is there: the primary waits for this one.
  send({ type: 'hello' })
  return send
}
