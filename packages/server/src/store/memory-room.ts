// How much memory the counts of the service may take: a share of the heap that Node was given.
import { getHeapStatistics } from 'node:v8'

const DEFAULT_MAX_BYTES = 56 * 1024 * 1024
const BYTES_PER_KEY = 56
const SHARE = 1 / 4

/**
 * Bytes for so many keys, at most a quarter of the heap limit. Counts live beside the heap, but who limits the heap
 * limits the process: a container with `--max-old-space-size=96` has little room for anything else.
 */
export function maxBytesFor(
  maxKeys: number,
  heapLimit: number = getHeapStatistics().heap_size_limit,
): number {
  return Math.floor(
    Math.min(Math.max(DEFAULT_MAX_BYTES, BYTES_PER_KEY * maxKeys), heapLimit * SHARE),
  )
}
