// What the server says about its own work.
import { ioredis } from './clients.mjs'

/**
 * Watches a server over a connection of its own.
 * @param {string} url
 */
export async function serverFigures(url) {
  const client = await ioredis(url)
  const info = async (/** @type {string} */ section) => fieldsOf(await client.info(section))
  const cpu = async () => {
    const fields = await info('cpu')
    return Number(fields['used_cpu_user']) + Number(fields['used_cpu_sys'])
  }
  return {
    /** Forgets all keys. */
    clear: () => client.flushall(),
    usedMemory: async () => Number((await info('memory'))['used_memory']),
    /**
     * What a run gives, and what the server did meanwhile.
     * @template T
     * @param {() => Promise<T>} run
     * @returns {Promise<{ result: T, served: ServerFigures }>}
     */
    async during(run) {
      await client.config('RESETSTAT')
      await client.slowlog('RESET')
      const before = await cpu()
      const result = await run()
      const cpuSeconds = (await cpu()) - before
      const script = numbersOf((await info('commandstats'))['cmdstat_evalsha'])
      const latency = numbersOf((await info('latencystats'))['latency_percentiles_usec_evalsha'])
      const served = {
        cpuSeconds,
        calls: script['calls'] ?? NaN,
        microsPerCall: script['usec_per_call'] ?? NaN,
        p50MicrosPerCall: latency['p50'] ?? NaN,
        p99MicrosPerCall: latency['p99'] ?? NaN,
        slowCalls: Number(await client.slowlog('LEN')),
      }
      return { result, served }
    },
    close: () => client.disconnect(),
  }
}

/**
 * @typedef {object} ServerFigures
 * @property {number} cpuSeconds user and system
 * @property {number} calls of EVALSHA
 * @property {number} microsPerCall mean wall time of a call, in microseconds
 * @property {number} p50MicrosPerCall
 * @property {number} p99MicrosPerCall
 * @property {number} slowCalls that took more than the server's `slowlog-log-slower-than`
 */

/** The lines `name:value` of INFO. @param {string} text @returns {Record<string, string>} */
function fieldsOf(text) {
  const pairs = text.split('\r\n').map((line) => [...line.split(':', 1), line])
  return Object.fromEntries(
    pairs.map(([name = '', line = '']) => [name, line.slice(name.length + 1)]),
  )
}

/** The numbers of `a=1,b=2`. @param {string | undefined} text @returns {Record<string, number>} */
function numbersOf(text = '') {
  const pairs = text.split(',').map((pair) => pair.split('='))
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]))
}
