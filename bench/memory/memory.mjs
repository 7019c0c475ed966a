// Measures the memory table: what a million keys weigh, what inserting and forgetting them costs.
import { measureInChild } from '../lib/child.mjs'
import { interleaved } from '../lib/rounds.mjs'

/** @typedef {import('./heap.mjs').HeapResult} HeapResult */
/** @typedef {import('./expiry.mjs').ExpiryResult} ExpiryResult */
/** @typedef {{ contender: string, heap: HeapResult[], expiry: ExpiryResult | null }} MemoryResult `heap` has one entry for each round */

/** Those whose memory differs from the others'. */
const WEIGHED = [
  'sluice token-bucket',
  'sluice fixed-window',
  'sluice sliding-window',
  'rate-limiter-flexible',
  'express-rate-limit',
  '@fastify/rate-limit',
  'limiter',
  'floor map',
  'floor slab',
]

/** Expiry is mostly waiting, so some wait together; what is measured is CPU time. */
const TOGETHER = 2

/**
 * @param {readonly import('./contenders.mjs').Contender[]} contenders
 * @param {{ rounds: number, keys: number, window: number }} options
 * @param {(line: string) => void} progress
 * @returns {Promise<MemoryResult[]>}
 */
export async function measureMemory(contenders, { rounds, keys, window }, progress) {
  const results = contenders
    .filter(({ name }) => WEIGHED.includes(name))
    .map(({ name }) => /** @type {MemoryResult} */ ({ contender: name, heap: [], expiry: null }))

  for (const { round, cell } of interleaved(results, rounds)) {
    const input = { contender: cell.contender, keys }
    const heap = await measureInChild(new URL('./heap.mjs', import.meta.url), input)
    cell.heap[round] = heap
    progress(`${cell.contender}, inserting: ${heap.bytesPerKey.toFixed(0)} B/key`)
  }

  const waiting = results.values()
  const next = async () => {
    for (const result of waiting) {
      const input = { contender: result.contender, keys, window }
      result.expiry = await measureInChild(new URL('./expiry.mjs', import.meta.url), input)
      progress(`${result.contender}, expiring: ${result.expiry?.pause.toFixed(1)} ms pause`)
    }
  }
  await Promise.all(Array.from({ length: TOGETHER }, next))
  return results
}
