// The frames in which gRPC puts messages: one byte for compression, four for the length.
import { MessageBuffer } from './message-buffer.ts'
import { StatusError } from './status.ts'

/** Bytes in front of each message. */
export const FRAME_HEADER = 5

/** Writes the header of a frame into the room that was left for it. */
export function sealed(frame: Buffer): Buffer {
  frame[0] = 0
  frame.writeUInt32BE(frame.length - FRAME_HEADER, 1)
  return frame
}

/** The message of a call that has exactly one. */
export function onlyMessage(bytes: Buffer, largest: number): Buffer {
  const end = frameEnd(bytes, 0, largest)
  if (end === undefined) throw new StatusError('INVALID_ARGUMENT', 'there is no whole message')
  if (end !== bytes.length)
    throw new StatusError('INVALID_ARGUMENT', 'there is more than one message')
  return bytes.subarray(FRAME_HEADER)
}

/** Cuts a stream of bytes into messages. */
export class FrameReader {
  private readonly largest: number
  private buffer = new MessageBuffer()

  constructor(largest: number) {
    this.largest = largest
  }

  /** The messages that are complete with these bytes. */
  push(bytes: Buffer): readonly Buffer[] {
    this.buffer.append(bytes)
    const all = this.buffer.contents()
    const messages: Buffer[] = []
    let start = 0
    for (;;) {
      const end = frameEnd(all, start, this.largest)
      if (end === undefined) break
      messages.push(all.subarray(start + FRAME_HEADER, end))
      start = end
    }
    if (start > 0) {
      this.buffer = new MessageBuffer()
      if (start < all.length) this.buffer.append(all.subarray(start))
    }
    return messages
  }
}

/** Where the frame at a place ends; undefined when it is not all there. */
function frameEnd(bytes: Buffer, start: number, largest: number): number | undefined {
  if (bytes.length < start + FRAME_HEADER) return undefined
  if (bytes[start] !== 0)
    throw new StatusError('UNIMPLEMENTED', 'the message is compressed; accepted: identity')
  const length = bytes.readUInt32BE(start + 1)
  if (length > largest)
    throw new StatusError(
      'RESOURCE_EXHAUSTED',
      `a message has ${length} bytes; accepted: ${largest}`,
    )
  const end = start + FRAME_HEADER + length
  return end <= bytes.length ? end : undefined
}
