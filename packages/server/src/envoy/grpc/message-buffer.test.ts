import { afterEach, describe, expect, test, vi } from 'vitest'
import { FrameReader } from './frames.ts'
import { MessageBuffer } from './message-buffer.ts'

afterEach(() => vi.restoreAllMocks())

describe('a message buffer', () => {
  test('has the bytes of all pieces in their order', () => {
    const buffer = new MessageBuffer()
    for (const piece of ['', 'a', 'bc', '', 'def']) buffer.append(Buffer.from(piece))
    expect(buffer.contents().toString()).toBe('abcdef')
    expect(buffer.length).toBe(6)
  })

  test('does not change the piece that came first', () => {
    const slab = Buffer.from('abXY')
    const buffer = new MessageBuffer()
    buffer.append(slab.subarray(0, 2))
    buffer.append(Buffer.from('cd'))
    expect(slab.toString()).toBe('abXY')
  })

  test('copies a byte a constant number of times, however small the pieces are', () => {
    const copied = vi.spyOn(Buffer.prototype, 'copy')
    const buffer = new MessageBuffer()
    buffer.append(Buffer.alloc(100_000))
    const piece = Buffer.alloc(1)
    for (let i = 0; i < 100_000; i++) buffer.append(piece)
    let bytes = 0
    for (const { value } of copied.mock.results) bytes += value as number
    expect(buffer.length).toBe(200_000)
    expect(bytes).toBeLessThan(3 * 200_000)
  })
})

describe('a frame reader', () => {
  test('finds messages wherever the stream of bytes is cut', () => {
    const frame = (text: string): Buffer => {
      const head = Buffer.alloc(5)
      head.writeUInt32BE(text.length, 1)
      return Buffer.concat([head, Buffer.from(text)])
    }
    const bytes = Buffer.concat([frame('one'), frame(''), frame('three')])
    for (let cut = 0; cut <= bytes.length; cut++) {
      const reader = new FrameReader(100)
      const messages = [
        ...reader.push(bytes.subarray(0, cut)),
        ...reader.push(bytes.subarray(cut)),
      ].map(String)
      expect(messages).toEqual(['one', '', 'three'])
    }
  })
})
