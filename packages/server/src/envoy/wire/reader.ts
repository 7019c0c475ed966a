// Reads protobuf: the parts of the wire format that the messages of this service are made of.

/** Thrown for bytes that are not a message. */
export class WireError extends Error {
  override readonly name = 'WireError'
}

/** Thrown for a message with more parts than are accepted. */
export class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge'
}

/** Unknown groups within groups, at most. */
const MAX_GROUP_DEPTH = 16

/** What a field is made of, the lowest three bits of its tag. */
export const VARINT = 0
export const BYTES = 2

/** Walks through one message. Numbers above 2^53 - 1 are read as 2^53 - 1. */
export class WireReader {
  private readonly bytes: Buffer
  private position: number
  private end: number

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.position = 0
    this.end = bytes.length
  }

  /** The next field's number times 8 plus its wire type, or 0 at the end of the message. */
  tag(): number {
    if (this.position >= this.end) return 0
    const tag = this.number()
    if (tag < 8 || tag > 0xffff_ffff) throw new WireError('a field has no valid number')
    return tag
  }

  /** An unsigned number. */
  number(): number {
    const { bytes, end } = this
    let position = this.position
    if (position >= end) throw new WireError('the message ends within a number')
    let byte = bytes[position++]!
    if (byte < 0x80) {
      this.position = position
      return byte
    }
    let value = byte & 0x7f
    let unit = 128
    for (let length = 2; ; length++) {
      if (position >= end) throw new WireError('the message ends within a number')
      if (length > 10) throw new WireError('a number has more than ten bytes')
      byte = bytes[position++]!
      value += (byte & 0x7f) * unit
      unit *= 128
      if (byte < 0x80) break
    }
    this.position = position
    return value > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : value
  }

  /** Text, which must be valid UTF-8. */
  text(): string {
    const stop = this.length()
    const { bytes, position } = this
    this.position = stop
    let isAscii = true
    for (let i = position; i < stop; i++) {
      if (bytes[i]! >= 0x80) {
        isAscii = false
        break
      }
    }
    if (isAscii) return bytes.toString('latin1', position, stop)
    const text = bytes.toString('utf8', position, stop)
    // Bytes that are not UTF-8 all become one character, and different keys would share a count.
    if (text.includes('\ufffd') && Buffer.from(text).compare(bytes, position, stop) !== 0)
      throw new WireError('text is not valid UTF-8')
    return text
  }

  /** {@link text}, for fields that often hold the same: `last` itself if the bytes are its characters. */
  textLike(last: string): string {
    const start = this.position
    const stop = this.length()
    const { bytes, position } = this
    let isSame = stop - position === last.length
    for (let i = 0; isSame && i < last.length; i++) {
      const byte = bytes[position + i]!
      isSame = byte === last.charCodeAt(i) && byte < 0x80
    }
    if (!isSame) {
      this.position = start
      return this.text()
    }
    this.position = stop
    return last
  }

  /** Enters a nested message. Returns what {@link leave} needs at its end. */
  enter(): number {
    const stop = this.length()
    const outer = this.end
    this.end = stop
    return outer
  }

  /** Returns to the enclosing message. */
  leave(outer: number): void {
    this.position = this.end
    this.end = outer
  }

  /** Skips an unknown field. */
  skip(tag: number, depth = 0): void {
    switch (tag & 7) {
      case VARINT:
        this.number()
        return
      case 1:
        return this.move(8)
      case BYTES:
        this.position = this.length()
        return
      case 3:
        return this.skipGroup(tag, depth)
      case 5:
        return this.move(4)
      default:
        throw new WireError('a field has no valid type')
    }
  }

  private skipGroup(tag: number, depth: number): void {
    if (depth >= MAX_GROUP_DEPTH) throw new WireError('groups are nested too deeply')
    for (;;) {
      const inner = this.tag()
      if (inner === 0) throw new WireError('a group does not end')
      if ((inner & 7) === 4) {
        if (inner >>> 3 !== tag >>> 3) throw new WireError('a group ends with another number')
        return
      }
      this.skip(inner, depth + 1)
    }
  }

  private length(): number {
    const stop = this.number() + this.position
    if (stop > this.end) throw new WireError('a field is longer than its message')
    return stop
  }

  private move(count: number): void {
    if (this.position + count > this.end) throw new WireError('a field is longer than its message')
    this.position += count
  }
}
