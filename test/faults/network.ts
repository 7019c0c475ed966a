// A network of its own: a client's host, a router and a server's host as network namespaces, where packets really get
// lost. It takes root, and `ip` and `tc` of iproute2. The namespaces end with this process, however it ends.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../servers/until.ts'
import type { Address } from '../servers/resp.ts'

export interface Network {
  /** Where the client's host finds the server. */
  readonly address: Address
  /** A program that runs Node on the client's host. */
  readonly execPath: string
  /** While packets are lost, the router drops all of them, both ways, without a word to anybody. */
  losePackets(isLost: boolean): void
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
  if (process.getuid?.() !== 0) return false
  try {
    execFileSync('tc', ['-V'], { stdio: 'ignore' })
    const script =
      'ip link add left type veth peer name right && echo 1 > /proc/sys/net/ipv4/ip_forward'
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
    const [client, router, server] = await Promise.all([1, 2, 3].map(() => namespace(running)))
    connectHosts(client!, router!, server!)
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
      losePackets: (isLost) => {
        // A queue of one byte has no room for any packet.
        const queue = isLost ? 'replace dev $d root bfifo limit 1' : 'del dev $d root'
        run(router!, `for d in left right; do tc qdisc ${queue}; done`)
      },
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

function connectHosts(client: number, router: number, server: number): void {
  run(
    router,
    `ip link add left type veth peer name eth0 netns ${client}
     ip link add right type veth peer name eth0 netns ${server}
     ip addr add 10.0.0.1/24 dev left
     ip addr add 10.0.1.1/24 dev right
     ip link set left up
     ip link set right up
     echo 1 > /proc/sys/net/ipv4/ip_forward`,
  )
  run(client, `ip link set eth0 up; ${addressOf('10.0.0', 2)}`)
  run(server, `ip link set eth0 up; ${addressOf('10.0.1', 2)}`)
}

const addressOf = (net: string, host: number): string =>
  `ip addr add ${net}.${host}/24 dev eth0; ip route add default via ${net}.1`

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
