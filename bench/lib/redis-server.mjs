// Starts a redis-server of the benchmark's own: on loopback, nothing kept on disk.
import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const START_TIMEOUT = 10_000

/**
 * Starts the `redis-server` on the PATH and resolves when it answers. It ends with `stop()`, and at the
 * latest with this process.
 * @param {{ core?: number | undefined, args?: string[] }} [options] the core to pin it to, and further arguments
 */
export async function startRedisServer({ core, args = [] } = {}) {
  const port = await freePort()
  const words = ['redis-server', '--port', `${port}`, '--bind', '127.0.0.1', '--dir', tmpdir()]
  words.push('--save', '', '--appendonly', 'no', ...args)
  if (core !== undefined) words.unshift('taskset', '-c', `${core}`)
  const [command = '', ...rest] = words
  const server = spawn(command, rest, { stdio: 'ignore' })
  /** @type {Error | undefined} */
  let failure
  server.once('error', (error) => (failure = error))
  server.once('exit', (code) => (failure ??= new Error(`redis-server ended with ${code}`)))
  const kill = () => void server.kill('SIGKILL')
  process.once('exit', kill)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

  const end = Date.now() + START_TIMEOUT
  while (!(await answers(port))) {
    if (failure) throw new Error('redis-server did not start', { cause: failure })
    if (Date.now() > end) throw new Error('redis-server does not answer')
    await sleep(20)
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    stop() {
      process.off('exit', kill)
      kill()
    },
  }
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
      probe.close(() => resolve(port))
    })
  })
}

/** Whether a Redis answers there. @param {number} port @returns {Promise<boolean>} */
function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.once('error', () => resolve(false))
    socket.once('data', (data) => {
      socket.destroy()
      resolve(data.toString().startsWith('+PONG'))
    })
  })
}
