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

function fourInstances(): Promise<readonly Instance[]> {
  return Promise.all(['a', 'b', 'c', 'd'].map(instance))
}

/** Four instances behind a balancer with the file of deploy/, from which one of them may be taken out. */
async function balanced(
  proxy: keyof typeof COMMANDS,
  instances: readonly Instance[],
  without?: number,
) {
  const { file, command, args } = COMMANDS[proxy]
  const port = await freePort()
  let text = readFileSync(new URL(`../../../../deploy/balancing/${file}`, import.meta.url), 'utf8')
  if (without !== undefined)
    text = text.replace(new RegExp(`^ *server .*127.0.0.1:${3001 + without}.*\n`, 'm'), '')
  for (const [i, { port: own }] of instances.entries())
    text = text.replaceAll(`127.0.0.1:${3001 + i}`, `127.0.0.1:${own}`)
  text = text.replaceAll(/(listen |bind ):?8000/g, `$1127.0.0.1:${port}`)
  // HAProxy sends requests elsewhere, not along the ring, until its health check has noticed a loss: it tells how many are up.
  const told =
    'http-request return status 200 content-type text/plain lf-string %[nbsrv(instances)] if { path /up }'
  text = text.replace('  default_backend', `  ${told}\n  default_backend`)
  // The instances share this process: one that answers late because the machine is busy is not lost.
  text = text.replace('  timeout server 30s', '  timeout server 30s\n  timeout check 30s')
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
  const ask = async (key: string | undefined, path = '/'): Promise<Answer> => {
    const headers = key === undefined ? {} : { 'x-api-key': key }
    const sent = request({ host: '127.0.0.1', port, path, headers, agent })
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    let by = ''
    for await (const chunk of response.setEncoding('utf8')) by += String(chunk)
    return { status: response.statusCode ?? 0, by }
  }
  /** Which instance answered each key. */
  const round = async (): Promise<readonly Answer[]> => Promise.all(KEYS.map((key) => ask(key)))
  await until(`${proxy} answers`, 20_000, async () => {
    if (child.end !== undefined) throw new Error(readFileSync(logFile, 'utf8').slice(-2000))
    return (await ask(undefined)).status === 200
  })
  /** Stops the first instance; resolves when the balancer has noticed. Gives one of its keys. */
  const lose = async (first: readonly Answer[]): Promise<number> => {
    const { server, name } = instances[0]!
    server.close().closeAllConnections()
    const own = first.findIndex(({ by }) => by === name)
    await until('the loss is noticed', 10_000, async () => {
      if (proxy === 'haproxy') return (await ask(undefined, '/up')).by === '3'
      const { status, by } = await ask(KEYS[own])
      return status < 500 && by !== name
    })
    return own
  }
  return { lose, round }
}

describe.each(['nginx', 'haproxy'] as const)('%s, hashing by key over four instances', (proxy) => {
  it('keeps each key on its instance, and moves only the keys of one that is lost', async () => {
    const instances = await fourInstances()
    const { lose, round } = await balanced(proxy, instances)
    const first = await round()
    expect(await round()).toEqual(first)
    const parts = instances.map(({ name }) => first.filter(({ by }) => by === name).length)
    expect(Math.min(...parts)).toBeGreaterThan(KEYS.length / 10)

    await lose(first)
    const second = await round()
    const moved = second.filter(({ by }, i) => by !== first[i]!.by).length
    expect(moved).toBe(parts[0])
    expect(moved).toBeLessThan(KEYS.length * 0.4)
  })

  it('moves only the keys of one that is taken out of the file', async () => {
    const instances = await fourInstances()
    const first = await (await balanced(proxy, instances)).round()
    const second = await (await balanced(proxy, instances, 0)).round()
    const moved = first.filter(({ by }, i) => by !== second[i]!.by)
    expect(new Set(moved.map(({ by }) => by))).toEqual(new Set([instances[0]!.name]))
    expect(second.some(({ by }) => by === instances[0]!.name)).toBe(false)
  })

  it('gives a key whose instance is lost one limit more, and no other key', async () => {
    const instances = await fourInstances()
    const { lose, round } = await balanced(proxy, instances)
    const first = await round()
    for (let i = 1; i < LIMIT; i++) await round()
    expect((await round()).every(({ status }) => status === 429)).toBe(true)

    const probe = await lose(first)
    const admitted = KEYS.map(() => 0)
    for (let i = 0; i <= LIMIT; i++)
      for (const [k, { status }] of (await round()).entries()) if (status === 200) admitted[k]! += 1
    // The one that was asked until the loss was noticed has used some of it.
    const others = (list: readonly number[]): readonly number[] =>
      list.filter((_, k) => k !== probe)
    const expected = first.map(({ by }) => (by === instances[0]!.name ? LIMIT : 0))
    expect(others(admitted)).toEqual(others(expected))
  })
})
