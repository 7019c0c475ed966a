// Waits until a server has had its turn, for tests that give a silent connection up.
import { connect } from 'node:net'

/** Resolves when the server has answered a new connection: whatever arrived there before has been read by then. */
export function turnOfServer(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {})
    socket.on('close', () => resolve())
    // No HTTP, so that nothing is counted.
    socket.resume().end('?\r\n\r\n')
  })
}
