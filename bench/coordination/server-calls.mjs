// How many scripts a server has run.
import { Redis } from 'ioredis'

/** @param {number} port @returns {Promise<number>} */
export async function callsOf(port) {
  const client = new Redis({ host: '127.0.0.1', port })
  const statistics = await client.info('commandstats')
  client.disconnect()
  const calls = statistics.matchAll(/cmdstat_(?:evalsha|eval|fcall):calls=(\d+)/g)
  return [...calls].reduce((sum, [, count]) => sum + Number(count), 0)
}
