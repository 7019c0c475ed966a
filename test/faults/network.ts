// A network of its own: a client's host and a server's host as network namespaces, and a way between them on which packets
// really get lost or late. It takes root, `ip` of iproute2 and a C compiler. All of it ends with this process, however it ends.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isOnPath } from '../../scripts/test-programs.mjs'
import { root } from '../compile.ts'
import { until } from '../servers/until.ts'
import type { Address } from '../servers/resp.ts'

export interface Network {
  /** Where the client's host finds the server. */
  readonly address: Address
  /** A program that runs Node on the client's host. */
  readonly execPath: string
  /** While packets are lost, none arrives, either way, and neither host is told. */
  losePackets(isLost: boolean): void
  /** Every packet takes that many ms, each way. Those on their way keep the delay that they left with. */
  delayPackets(milliseconds: number): void
  /** The client's host gets another address: its connections go silent for good, new ones work. */
  moveClient(): void
  stop(): void
}

const PORT = 6379
const SERVER = '10.0.1.2'

/** Connections to the server's address, handed to a socket of the file system, which is the same in all namespaces. */
const RELAY = `
const { connect, createServer } = require('node:net')
process.stdin.on('end', () => process.exit()).resume()
createServer({ noDelay: true }, (client) => {
  const server = connect(process.argv[1])
  for (const socket of [client, server]) socket.on('error', () => {})
  client.pipe(server).pipe(client)
}).listen(${PORT}, '${SERVER}')`

/** Whether this process may make one. */
export function hasNetwork(): boolean {
  if (process.getuid?.() !== 0 || !isOnPath('cc')) return false
  try {
    const script = 'ip tuntap add left mode tun && ip link set left up'
    execFileSync('unshare', ['--net', 'sh', '-c', script], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Makes a network, with the server that listens at a socket of the file system behind it. */
export async function startNetwork(socket: string): Promise<Network> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-network-'))
  const running: ChildProcess[] = []
  const stop = (): void => {
    for (const child of running) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const [client, server] = await Promise.all([1, 2].map(() => namespace(running)))
    const way = await connectHosts(client!, server!, folder, running)
    const relay = spawn(...inside(server!, process.execPath, '-e', RELAY, socket), {
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    running.push(relay)
    const execPath = join(folder, 'node')
    const command = inside(client!, process.execPath).flat().join(' ')
    writeFileSync(execPath, `#!/bin/sh\nexec ${command} "$@"\n`)
    chmodSync(execPath, 0o755)
    await until('the server can be reached', 20_000, async () => canConnect(client!))
    let moved = 2
    return {
      address: { host: SERVER, port: PORT },
      execPath,
      losePackets: (isLost) => way(`lose ${Number(isLost)}`),
      delayPackets: (milliseconds) => way(`delay ${milliseconds}`),
      moveClient: () => {
        moved += 1
        run(client!, `ip addr flush dev eth0; ${addressOf('10.0.0', moved)}`)
      },
      stop,
    }
  } catch (error) {
    stop()
    throw error
  }
}

/** A namespace that lives as long as its process, which ends with ours: then its input ends. Gives the process's id. */
async function namespace(running: ChildProcess[]): Promise<number> {
  const child = spawn('unshare', ['--net', 'sh', '-c', 'ip link set lo up; echo; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  running.push(child)
  await once(child.stdout, 'data')
  return child.pid!
}

/** Lays the way between two hosts. Gives what tells it how packets fare. */
async function connectHosts(
  client: number,
  server: number,
  folder: string,
  running: ChildProcess[],
): Promise<(order: string) => void> {
  const link = join(folder, 'link')
  execFileSync('cc', ['-O2', '-o', link, join(root, 'test/faults/link.c')])
  const way = spawn('unshare', ['--net', link, 'left', 'right'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  running.push(way)
  await once(way.stdout, 'data')
  for (const [device, host, net] of [
    ['left', client, '10.0.0'],
    ['right', server, '10.0.1'],
  ] as const) {
    run(way.pid!, `ip link set ${device} netns ${host} name eth0`)
    run(host, `ip link set eth0 up; ${addressOf(net, 2)}`)
  }
  return (order) => void way.stdin.write(`${order}\n`)
}

const addressOf = (net: string, host: number): string =>
  `ip addr add ${net}.${host}/24 dev eth0; ip route add default dev eth0`

function inside(namespaceOf: number, ...command: string[]): [string, string[]] {
  return ['nsenter', [`--net=/proc/${namespaceOf}/ns/net`, ...command]]
}

function run(namespaceOf: number, script: string): void {
  execFileSync(...inside(namespaceOf, 'sh', '-ec', script), { stdio: ['ignore', 'ignore', 'pipe'] })
}

function canConnect(client: number): boolean {
  const code = `require('node:net').connect(${PORT}, '${SERVER}').on('connect', () => process.exit())`
  try {
    execFileSync(...inside(client, process.execPath, '-e', code), {
      stdio: 'ignore',
      timeout: 5000,
    })
    return true
  } catch {
    return false
  }
}
