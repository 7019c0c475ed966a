// Cuts what a socket delivers into messages: each comes with its length in front, four bytes, the lowest first.
import type { Socket } from 'node:net'

const HEAD = 4
/** Nobody sends as much: a turn of requests is some kilobytes. */
const LONGEST = 2 ** 26

/** Sends one message. */
export function sendFrame(socket: Socket, payload: Uint8Array | string): void {
  const head = Buffer.allocUnsafe(HEAD)
  head.writeUInt32LE(typeof payload === 'string' ? Buffer.byteLength(payload) : payload.byteLength)
  socket.cork()
  socket.write(head)
  socket.write(payload)
  socket.uncork()
}

/** Calls back with every whole message; the bytes are the caller's to read until it returns. */
export function onFrame(socket: Socket, hear: (payload: Buffer) => void): void {
  let rest: Buffer | undefined
  socket.on('data', (chunk: Buffer) => {
    let bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk])
    while (bytes.length >= HEAD) {
      const length = bytes.readUInt32LE()
      if (length > LONGEST) {
        socket.destroy(new RangeError(`a message of ${length} bytes`))
        return
      }
      if (bytes.length < HEAD + length) break
      hear(bytes.subarray(HEAD, HEAD + length))
      bytes = bytes.subarray(HEAD + length)
    }
    rest = bytes.length === 0 ? undefined : bytes
  })
}
