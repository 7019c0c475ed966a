// Runs the example as its readers do: the real file, in a process of its own, on the built library.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'

const folder = fileURLToPath(new URL('.', import.meta.url))
const started: Example[] = []

afterEach(() => {
  for (const { child } of started.splice(0)) child.kill('SIGKILL')
})

test('passes the quota, then answers 429 with the wait in whole seconds', async () => {
  const url = await urlOf(start('0'))
  // On a busy machine a unit may come back meanwhile, hence more tries than the quota.
  const passed: string[] = []
  let response = await fetch(url)
  while (response.status === 200 && passed.length < 20) {
    passed.push(await response.text())
    response = await fetch(url)
  }
  expect(passed.length).toBeGreaterThanOrEqual(5)
  expect(passed[0]).toBe('Hello. 4 more at once.\n')
  expect(response.status).toBe(429)
  const seconds = response.headers.get('retry-after')
  expect(seconds).toMatch(/^[12]$/)
  expect(await response.text()).toBe(`Refused. Try again in ${seconds} s.\n`)
})

test('promises nothing to a request that can never fit', async () => {
  // The same file with another limit: a quota of 0 refuses everything for good.
  const copy = mkdtempSync(join(folder, 'dist-copy-'))
  const source = readFileSync(join(folder, 'server.js'), 'utf8')
  expect(source).toContain("limit: '5/10s'")
  writeFileSync(join(copy, 'server.js'), source.replace("limit: '5/10s'", "limit: '0/10s'"))
  try {
    const response = await fetch(await urlOf(start('0', join(copy, 'server.js'))))
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBeNull()
    expect(await response.text()).toBe('Refused.\n')
  } finally {
    rmSync(copy, { recursive: true })
  }
})

test('prints three commands that name its address', async () => {
  const example = start('0')
  const url = await urlOf(example)
  const commands = example.printed.split('\n').filter((line) => line.includes('curl -i '))
  expect(commands).toHaveLength(3)
  for (const command of commands) expect(command).toContain(url)
})

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends it cleanly', async (signal) => {
  const example = start('0')
  // The connection of this request stays open; it must not hold the process.
  await (await fetch(await urlOf(example))).text()
  example.child.kill(signal)
  expect(await example.ended).toEqual({ code: 0, errors: '' })
})

test('says in one sentence that its port is in use', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  expect(await start(String(port)).ended).toEqual({
    code: 1,
    errors: `Cannot listen on port ${port}: it is in use. Choose another one: PORT=3001\n`,
  })
  other.close()
})

test.each(['http', '-1', '65536', '1.5'])('says that %s is not a port', async (port) => {
  const { code, errors } = await start(port).ended
  expect(code).toBe(1)
  expect(errors).toContain(`Cannot listen on port ${port}: it is not a number from 0 to 65535.`)
})

interface Example {
  readonly child: ChildProcess
  readonly ended: Promise<{ code: number | null; errors: string }>
  printed: string
}

function start(port: string, file = 'server.js'): Example {
  const child = spawn(process.execPath, [file], {
    cwd: folder,
    env: { ...process.env, PORT: port },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  child.stdout.setEncoding('utf8').on('data', (text: string) => (example.printed += text))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, errors }))
  const example: Example = { child, ended, printed: '' }
  started.push(example)
  return example
}

/** The address that the server prints once it listens. */
async function urlOf(example: Example): Promise<string> {
  for (;;) {
    const url = /Listening on (http:\S+)\n/.exec(example.printed)?.[1]
    if (url !== undefined && example.printed.includes('Ctrl+C')) return url
    const ended = await Promise.race([example.ended, once(example.child.stdout!, 'data')])
    if ('code' in ended) throw new Error(`the server ended with ${ended.code}: ${ended.errors}`)
  }
}
