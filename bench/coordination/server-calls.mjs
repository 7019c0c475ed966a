// What a server has done: scripts that it has run, and CPU time that it has used.
import { Redis } from 'ioredis'

/** @param {number} port @returns {Promise<number>} */
export async function callsOf(port) {
  const client = new Redis({ host: '127.0.0.1', port })
  const statistics = await client.info('commandstats')
  client.disconnect()
  const calls = statistics.matchAll(/cmdstat_(?:evalsha|eval|fcall):calls=(\d+)/g)
  return [...calls].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Seconds of CPU time. @param {number} port @returns {Promise<number>} */
export async function serverCpuOf(port) {
  const client = new Redis({ host: '127.0.0.1', port })
  const text = await client.info('cpu')
  client.disconnect()
  const seconds = text.matchAll(/used_cpu_(?:user|sys):([\d.]+)/g)
  return [...seconds].reduce((sum, [, value]) => sum + Number(value), 0)
}
