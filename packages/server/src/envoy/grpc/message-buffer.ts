// Collects the bytes of a message that arrives in pieces; however small the pieces, the work stays linear.

const EMPTY = Buffer.alloc(0)

/**
 * Bytes in the order of their arrival. A single piece is kept as it is. Further pieces are copied into a buffer that
 * doubles, so that a million pieces of one byte neither keep a million objects nor are copied a million times.
 */
export class MessageBuffer {
  private bytes: Buffer = EMPTY
  private isOwn = false
  private used = 0

  get length(): number {
    return this.used
  }

  append(piece: Buffer): void {
    if (this.used === 0) {
      this.bytes = piece
      this.isOwn = false
      this.used = piece.length
      return
    }
    const length = this.used + piece.length
    if (!this.isOwn || length > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, this.used * 2))
      this.bytes.copy(larger, 0, 0, this.used)
      this.bytes = larger
      this.isOwn = true
    }
    piece.copy(this.bytes, this.used)
    this.used = length
  }

  /** Forgets what has arrived. */
  clear(): void {
    this.bytes = EMPTY
    this.used = 0
  }

  /** What has arrived. Valid until the next call of {@link append}. */
  contents(): Buffer {
    return this.used === this.bytes.length ? this.bytes : this.bytes.subarray(0, this.used)
  }
}
