// Real balancers that hash by key, as in deploy/balancing: keys stay on their instance, and a lost one moves only its own.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLimiter } from 'sluice'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGuard, spawnGuarded } from '../../../../test/servers/guarded-process.ts'
import { freePort } from '../../../../test/servers/ports.ts'
import { until } from '../../../../test/servers/until.ts'

const COMMANDS = {
  nginx: {
    file: 'nginx.conf',
    command: 'nginx',
    args: [
      '-p',
      '.',
      '-c',
      'nginx.conf',
      '-e',
      'error.log',
      '-g',
      'daemon off; master_process off; pid p.pid;',
    ],
  },
  haproxy: { file: 'haproxy.cfg', command: 'haproxy', args: ['-db', '-f', 'haproxy.cfg'] },
} as const

const KEYS = Array.from({ length: 400 }, (_, i) => `key ${i}`)
const LIMIT = 3

interface Instance {
  readonly name: string
  readonly server: Server
  readonly port: number
}

/** An application with a limiter in its own memory; it answers with its name. */
async function instance(name: string): Promise<Instance> {
  const limiter = createLimiter({ limit: `${LIMIT}/h` })
  const server = createServer((incoming, response) => {
    const key = incoming.headers['x-api-key']
    const { allowed } = typeof key === 'string' ? limiter.check(key) : { allowed: true }
    response.writeHead(allowed ? 200 : 429).end(name)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close().closeAllConnections()
  })
  return { name, server, port: (server.address() as AddressInfo).port }
}

interface Answer {
  readonly status: number
  readonly by: string
}

/** Four instances behind a balancer with the file of deploy/. */
async function balanced(proxy: keyof typeof COMMANDS) {
  const instances = await Promise.all(['a', 'b', 'c', 'd'].map(instance))
  const { file, command, args } = COMMANDS[proxy]
  const port = await freePort()
  let text = readFileSync(new URL(`../../../../deploy/balancing/${file}`, import.meta.url), 'utf8')
  for (const [i, { port: own }] of instances.entries())
    text = text.replaceAll(`127.0.0.1:${3001 + i}`, `127.0.0.1:${own}`)
  text = text.replaceAll(/(listen |bind ):?8000/g, `$1127.0.0.1:${port}`)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-balanced-'))
  writeFileSync(join(folder, file), text)
  const guard = createGuard(folder)
  const logFile = join(folder, 'output.log')
  const child = await spawnGuarded(guard, command, [...args], { cwd: folder, logFile })
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  onTestFinished(async () => {
    agent.destroy()
    child.kill('SIGTERM')
    await child.waitForEnd(5000)
    await guard.release()
  })
  const ask = async (key: string | undefined): Promise<Answer> => {
    const headers = key === undefined ? {} : { 'x-api-key': key }
    const sent = request({ host: '127.0.0.1', port, path: '/', headers, agent })
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    let by = ''
    for await (const chunk of response.setEncoding('utf8')) by += String(chunk)
    return { status: response.statusCode ?? 0, by }
  }
  /** Which instance answered each key. */
  const round = async (): Promise<readonly Answer[]> => Promise.all(KEYS.map(ask))
  await until(`${proxy} answers`, 20_000, async () => {
    if (child.end !== undefined) throw new Error(readFileSync(logFile, 'utf8').slice(-2000))
    return (await ask(undefined)).status === 200
  })
  return { instances, ask, round }
}

describe.each(['nginx', 'haproxy'] as const)('%s, hashing by key over four instances', (proxy) => {
  it('keeps each key on its instance, and moves only the keys of one that is lost', async () => {
    const { instances, ask, round } = await balanced(proxy)
    const first = await round()
    expect(await round()).toEqual(first)
    const parts = instances.map(({ name }) => first.filter(({ by }) => by === name).length)
    expect(Math.min(...parts)).toBeGreaterThan(KEYS.length / 10)

    const [lost] = instances
    lost!.server.close().closeAllConnections()
    const own = KEYS[first.findIndex(({ by }) => by === lost!.name)]
    await until('the loss is noticed', 10_000, async () => {
      const { status, by } = await ask(own)
      return status < 500 && by !== lost!.name
    })
    const second = await round()
    const moved = second.filter(({ by }, i) => by !== first[i]!.by).length
    expect(moved).toBe(parts[0])
    expect(moved).toBeLessThan(KEYS.length * 0.4)
  })

  it('gives a key whose instance is lost one limit more, and no other key', async () => {
    const { instances, ask, round } = await balanced(proxy)
    const first = await round()
    for (let i = 1; i < LIMIT; i++) await round()
    expect((await round()).every(({ status }) => status === 429)).toBe(true)

    const [lost] = instances
    lost!.server.close().closeAllConnections()
    const probe = first.findIndex(({ by }) => by === lost!.name)
    await until('the loss is noticed', 10_000, async () => (await ask(KEYS[probe])).status < 500)
    const admitted = KEYS.map(() => 0)
    for (let i = 0; i <= LIMIT; i++)
      for (const [k, { status }] of (await round()).entries()) if (status === 200) admitted[k]! += 1
    for (const [k, { by }] of first.entries())
      if (k !== probe) expect(admitted[k]).toBe(by === lost!.name ? LIMIT : 0)
  })
})
