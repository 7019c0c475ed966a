// Lets the workers of one service ask a store in this process, over a socket of the file system.
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { SyncStore } from 'sluice'
import { onFrame, sendFrame } from './frames.ts'
import {
  answersTo,
  machineTime,
  tooLateAnswer,
  type Kind,
  type Operation,
  type Questions,
} from './owner-wire.ts'

/** An open socket. */
export interface OwnerServer {
  /** Hangs up on everybody. The store stays open. */
  close(): Promise<void>
}

/** Answers at `path`, in the order in which turns come; `clock` is for tests. */
export async function serveStore(
  store: Pick<SyncStore, Operation>,
  path: string,
  clock: () => number = machineTime,
): Promise<OwnerServer> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A worker that ends takes its questions with it.
    socket.on('error', () => {})
    const kinds: Kind[] = []
    onFrame(socket, (payload) => {
      const { latest, firstKind, kinds: more, asked } = JSON.parse(String(payload)) as Questions
      kinds.splice(firstKind, Infinity, ...more)
      // What lay here until its worker had given up must change nothing any more.
      const isLate = clock() > latest
      sendFrame(socket, isLate ? tooLateAnswer() : answersTo(asked, kinds, store))
    })
  })
  server.listen(path)
  await once(server, 'listening')
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
