// What a count costs in the server's memory, with its expiry.
import { setTimeout as sleep } from 'node:timers/promises'
import { measureInChild } from '../lib/child.mjs'
import { serverFigures } from './server-figures.mjs'

/** @typedef {{ contender: string, bytesPerKey: number }} MemoryResult */

/**
 * The growth of `used_memory` by one decision on each of many keys.
 * @param {readonly string[]} contenders
 * @param {{ keys: number, url: string }} options
 * @param {(line: string) => void} progress
 * @returns {Promise<MemoryResult[]>}
 */
export async function measureMemory(contenders, { keys, url }, progress) {
  const server = await serverFigures(url)
  const results = []
  for (const contender of contenders) {
    await server.clear()
    const before = await settled(server.usedMemory)
    await measureInChild(new URL('./fill.mjs', import.meta.url), { contender, keys, url })
    const bytesPerKey = ((await settled(server.usedMemory)) - before) / keys
    progress(`memory, ${contender}: ${bytesPerKey.toFixed(0)} bytes per key`)
    results.push({ contender, bytesPerKey })
  }
  await server.clear()
  server.close()
  return results
}

/** Once the tables have been rehashed and the buffers of closed connections are gone. @param {() => Promise<number>} read */
async function settled(read) {
  let last = NaN
  for (let i = 0; i < 50; i++) {
    const now = await read()
    if (Math.abs(now - last) < 4096) return now
    last = now
    await sleep(400)
  }
  return last
}
