import { expect, test } from 'vitest'
import { maxBytesFor } from './open-store.ts'

const MB = 1024 * 1024

test.each([
  ['56 MB', 1_000_000, 4096 * MB, 56 * MB],
  ['56 MB for few keys, which may be long', 10, 4096 * MB, 56 * MB],
  ['more for more keys', 8_000_000, 4096 * MB, 448_000_000],
  ['a quarter of a small heap', 1_000_000, 96 * MB, 24 * MB],
  ['a quarter of the heap for more keys', 8_000_000, 1024 * MB, 256 * MB],
])('counts may take %s', (_, maxKeys, heapLimit, bytes) => {
  expect(maxBytesFor(maxKeys, heapLimit)).toBe(bytes)
})
