// Writes protobuf into one buffer that grows and is used again for every message.

/** Writes one message at a time. Fields that hold what a reader assumes anyway (0, '') are left out. */
export class WireWriter {
  private buffer: Buffer = Buffer.allocUnsafe(4096)
  private position = 0

  /** Starts over, leaving room in front for the header of a frame. */
  start(room = 0): void {
    this.position = room
  }

  /** A copy of what was written, the room in front included. */
  finish(): Buffer {
    const copy = Buffer.allocUnsafe(this.position)
    this.buffer.copy(copy, 0, 0, this.position)
    return copy
  }

  /** A whole number, 0 to 2^53 - 1. */
  number(field: number, value: number): void {
    if (value === 0) return
    this.reserve(20)
    this.varint(field * 8)
    this.varint(value)
  }

  double(field: number, value: number): void {
    this.reserve(20)
    this.varint(field * 8 + 1)
    this.position = this.buffer.writeDoubleLE(value, this.position)
  }

  /** True or false, both of them written. */
  flag(field: number, value: boolean): void {
    this.reserve(20)
    this.varint(field * 8)
    this.varint(value ? 1 : 0)
  }

  text(field: number, value: string): void {
    if (value !== '') this.textEvenEmpty(field, value)
  }

  /** Text, written even when it is '': what a choice between fields needs. */
  textEvenEmpty(field: number, value: string): void {
    const start = this.open(field)
    // Three bytes for each UTF-16 unit are always enough.
    this.reserve(value.length * 3)
    this.position += this.buffer.write(value, this.position, 'utf8')
    this.close(start)
  }

  bytes(field: number, value: Uint8Array): void {
    const start = this.open(field)
    this.raw(value)
    this.close(start)
  }

  /** Bytes that hold whole fields, tags included. */
  raw(fields: Uint8Array): void {
    const { length } = fields
    this.reserve(length)
    const { buffer, position } = this
    // For a few bytes, copying by a call takes longer.
    if (length > 32) buffer.set(fields, position)
    else for (let i = 0; i < length; i++) buffer[position + i] = fields[i]!
    this.position = position + length
  }

  /** Begins a message within this one; what it gives is for {@link close}. */
  open(field: number): number {
    this.reserve(16)
    this.varint(field * 8 + 2)
    this.position += 1
    return this.position
  }

  /** Ends it. Most are short, with a length of one byte; in front of others room is made. */
  close(start: number): void {
    const length = this.position - start
    if (length < 128) {
      this.buffer[start - 1] = length
      return
    }
    this.reserve(8)
    let size = 1
    for (let rest = length; rest >= 128; rest = Math.floor(rest / 128)) size += 1
    this.buffer.copyWithin(start - 1 + size, start, start + length)
    this.position = start - 1
    this.varint(length)
    this.position += length
  }

  private varint(value: number): void {
    const { buffer } = this
    let { position } = this
    let rest = value
    while (rest > 0x7fff_ffff) {
      buffer[position++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    while (rest > 127) {
      buffer[position++] = (rest & 127) | 128
      rest >>>= 7
    }
    buffer[position++] = rest
    this.position = position
  }

  private reserve(count: number): void {
    const needed = this.position + count
    if (needed <= this.buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.buffer.length * 2))
    this.buffer.copy(larger, 0, 0, this.position)
    this.buffer = larger
  }
}
