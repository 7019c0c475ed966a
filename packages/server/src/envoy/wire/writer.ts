// Writes protobuf into one buffer that grows and is used again for every message.

/** Messages come and go, one at a time. */
export class WireWriter {
  private bytes: Buffer = Buffer.allocUnsafe(4096)
  private position = 0

  /** Starts over, leaving room in front for somebody else's header. */
  start(room = 0): void {
    this.position = room
  }

  /** A copy of what was written, the room in front included. */
  finish(): Buffer {
    return Buffer.from(this.bytes.subarray(0, this.position))
  }

  /** A number field; 0 is what a reader assumes when there is none. */
  number(field: number, value: number): void {
    if (value === 0) return
    this.reserve(20)
    this.varint(field * 8)
    this.varint(value)
  }

  /** A text field; '' is what a reader assumes when there is none. */
  text(field: number, value: string): void {
    if (value === '') return
    const { length } = value
    // Three bytes for each UTF-16 unit are always enough.
    this.reserve(length * 3 + 16)
    this.varint(field * 8 + 2)
    if (length < 128 && this.asciiAfter(value, length)) return
    const written = this.bytes.write(value, this.position + 5, 'utf8')
    this.varint(written)
    this.bytes.copyWithin(this.position, this.fiveAfter, this.fiveAfter + written)
    this.position += written
  }

  /** Bytes that hold a whole field, tag included. */
  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.position)
    this.position += bytes.length
  }

  /** A double. */
  double(field: number, value: number): void {
    this.reserve(16)
    this.varint(field * 8 + 1)
    this.position = this.bytes.writeDoubleLE(value, this.position)
  }

  /** Begins a message within this one; what it gives is for {@link close}. */
  open(field: number): number {
    this.reserve(16)
    this.varint(field * 8 + 2)
    this.position += 1
    return this.position
  }

  /** Ends it. Most are short and have a length of one byte; for others the content moves. */
  close(start: number): void {
    const length = this.position - start
    if (length < 128) {
      this.bytes[start - 1] = length
      return
    }
    this.reserve(16)
    this.position = start - 1
    this.varint(length)
    this.bytes.copyWithin(this.position, start, start + length)
    this.position += length
  }
}
