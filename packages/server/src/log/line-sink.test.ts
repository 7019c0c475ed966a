import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fileSink, streamSink } from './line-sink.ts'

/** A reader that takes a line only when the test lets it. */
function slowReader() {
  const read: string[] = []
  const waiting: (() => void)[] = []
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _, done) {
      read.push(chunk)
      waiting.push(done)
    },
  })
  const readAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      waiting.shift()?.()
      await new Promise(setImmediate)
    }
  }
  return { stream, read, readAll }
}

const LINE = `${'x'.repeat(9_999)}\n`

describe('a sink whose reader does not read', () => {
  test('keeps a megabyte, drops and counts what comes on top, and reports it once', async () => {
    const { stream, read, readAll } = slowReader()
    const sink = streamSink(stream)
    for (let i = 0; i < 150; i++) sink.write(LINE)
    expect(sink.dropped).toBe(50)
    await readAll()
    expect(read.filter((line) => line === LINE)).toHaveLength(100)
    expect(read.slice(100).map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ level: 'warn', dropped: 50 }),
    ])
    sink.write(LINE)
    await readAll()
    expect(read).toHaveLength(102)
  })

  test('is given up by a flush after its patience', async () => {
    const sink = streamSink(slowReader().stream)
    sink.write(LINE)
    await sink.flush(1)
    expect(sink.dropped).toBe(0)
  })

  test('drops and counts all lines once the reader has gone', async () => {
    const { stream } = slowReader()
    const sink = streamSink(stream)
    stream.destroy()
    await sink.flush(60_000)
    sink.write(LINE)
    expect(sink.dropped).toBe(1)
  })
})

describe('a file', () => {
  test('holds every line after a flush, and only its owner may read it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-sink-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'new', 'audit.log')
    const sink = fileSink(path)
    for (let i = 0; i < 100; i++) sink.write(`${i}\n`)
    await sink.flush(60_000)
    expect(readFileSync(path, 'utf8').trim().split('\n')).toEqual(
      Array.from({ length: 100 }, (_, i) => String(i)),
    )
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('on a disk without room reports the error and drops what does not fit', async () => {
    const errors = new Set<string>()
    const sink = fileSink('/dev/full', ({ message }) => errors.add(message))
    for (let i = 0; i < 300; i++) sink.write(LINE)
    await sink.flush(100)
    expect([...errors]).toEqual(['ENOSPC: no space left on device, write'])
    expect(sink.dropped).toBeGreaterThan(0)
  })

  test('that cannot be opened throws', () => {
    expect(() => fileSink('/dev/null/audit.log')).toThrow('EEXIST')
  })
})

test.each(['pipe', 'file'])(
  'a process whose standard error, a %s, nobody reads goes on and ends',
  async (kind) => {
    const sink = fileURLToPath(new URL('../../dist/log/line-sink.js', import.meta.url))
    const code = `
      const { standardErrorSink } = await import(${JSON.stringify(sink)})
      const sink = standardErrorSink()
      for (let i = 0; i < 1000; i++) {
        sink.write('x'.repeat(10000) + '\\n')
        await new Promise(setImmediate)
      }
      console.log('alive')
      await sink.flush(50)
      process.exit(0)
    `
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', kind === 'pipe' ? 'pipe' : 'ignore'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let printed = ''
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (printed += text))
    const [exitCode] = (await once(child, 'exit')) as [number | null]
    expect([printed, exitCode]).toEqual(['alive\n', 0])
  },
  60_000,
)
