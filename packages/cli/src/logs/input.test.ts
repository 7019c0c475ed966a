import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { logOf } from './input.ts'

/** `hello\n` 100 times, as `zstd` writes it. */
const ZSTD = Buffer.from('28b52ffd6458016d00003068656c6c6f0a01004f529522ff258c8a', 'hex')

async function contentOf(stream: Readable): Promise<[string, string | undefined]> {
  const log = logOf('test', undefined, stream)
  let text = ''
  for await (const chunk of log.chunks) text += Buffer.from(chunk).toString()
  return [text, log.problem()]
}

const text = 'hello\n'.repeat(100)

describe('a log', () => {
  it.each<[string, Buffer]>([
    ['plain', Buffer.from(text)],
    ['gzip', gzipSync(text)],
    ['gzip in two members', Buffer.concat([gzipSync(text.slice(0, 90)), gzipSync(text.slice(90))])],
    ['zstd', ZSTD],
  ])('in %s is read whole, in any chunks', async (_, bytes) => {
    const small = Array.from({ length: bytes.length }, (_, i) => bytes.subarray(i, i + 1))
    expect(await contentOf(Readable.from([bytes]))).toEqual([text, undefined])
    expect(await contentOf(Readable.from(small))).toEqual([text, undefined])
  })

  it('that is empty has no bytes', async () => {
    expect(await contentOf(Readable.from([]))).toEqual(['', undefined])
  })

  it.each<[string, Buffer]>([
    ['gzip', gzipSync(Buffer.from(text))],
    ['zstd', ZSTD],
  ])('in %s that is cut off says so, and does not throw', async (_, bytes) => {
    const [read, problem] = await contentOf(Readable.from([bytes.subarray(0, bytes.length - 6)]))
    expect(text.startsWith(read)).toBe(true)
    expect(problem).toContain('test: the compressed data is damaged or cut off')
  })

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['a wrong checksum', (bytes) => (bytes.writeUInt8(bytes.at(-7)! ^ 1, bytes.length - 7), bytes)],
    ['garbage at its end', (bytes) => Buffer.concat([bytes, Buffer.from('garbage')])],
    ['zeros after it', (bytes) => Buffer.concat([bytes, Buffer.alloc(99)])],
  ])('in gzip with %s is read whole', async (_, damaged) => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `${i * 7919} a line\n`).join('')
    const [read] = await contentOf(Readable.from([damaged(gzipSync(lines))]))
    expect(read).toBe(lines)
  })

  it('in gzip with a wrong checksum says so', async () => {
    const bytes = gzipSync(text)
    bytes.writeUInt8(bytes.at(-7)! ^ 1, bytes.length - 7)
    const [read, problem] = await contentOf(Readable.from([bytes]))
    expect([read, problem]).toEqual([text, expect.stringContaining('incorrect data check')])
  })

  it('in gzip with much garbage after it ends, says so, and lacks 16 kB at most', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `${i * 7919} a line\n`).join('')
    const garbage = Buffer.from('garbage!'.repeat(40_000))
    const [read, problem] = await contentOf(
      Readable.from([Buffer.concat([gzipSync(lines), garbage])]),
    )
    expect(lines.startsWith(read)).toBe(true)
    expect(lines.length - read.length).toBeLessThanOrEqual(16 * 1024)
    expect(problem).toContain('damaged or cut off')
  })
})
