// Starts what is measured: each in a process of its own, on the core that the load leaves free.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** @typedef {{ url: string, cpuSeconds: () => number, memory: () => number, stop: () => void }} Server */

const path = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url))

/** The contenders by name, as arguments for Node. @type {Record<string, string[]>} */
export const contenders = {
  'sluice serve': [path('../../packages/cli/dist/main.js'), 'serve', path('sluice.yaml')],
  floor: [path('floor.mjs')],
  'bare echo': [path('echo.mjs')],
}

/**
 * Starts a contender and resolves when it listens; it ends with `stop()`, and at the latest with this process.
 * @param {string[]} args
 * @param {number | undefined} core
 * @param {string} [listener] the one whose address is wanted
 * @returns {Promise<Server>}
 */
export function startServer(args, core, listener = 'http') {
  const words = core === undefined ? [] : ['taskset', '-c', `${core}`]
  const [command = '', ...rest] = [...words, process.execPath, ...args]
  const env = { ...process.env, SLUICE_HTTP_PORT: '0', REDIS_URL: '' }
  const child = spawn(command, rest, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  return new Promise((resolve, reject) => {
    let text = ''
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)))
    child.stdout.setEncoding('utf8').on('data', (part) => {
      text += part
      const url = new RegExp(`${listener} on (http:[^\\s,]+)`).exec(text)?.[1]
      if (url === undefined || child.pid === undefined) return
      const { pid } = child
      resolve({
        url,
        cpuSeconds: () => cpuSecondsOf(pid),
        memory: () => memoryOf(pid),
        stop() {
          process.off('exit', kill)
          kill()
        },
      })
    })
  })
}

/** User and system time of a process, all threads. @param {number} pid */
function cpuSecondsOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  // In ticks, of which Linux tells programs a hundred for each second.
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Bytes in memory. @param {number} pid */
function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024
}
