// What is left of many keys two windows later, and how long forgetting them stops the event loop.
import { setTimeout as sleep } from 'node:timers/promises'
import { inputFromParent, reportToParent } from '../lib/child.mjs'
import { heapBytes, insert, pauses } from './insertion.mjs'
import { subjectOf } from './contenders.mjs'

/** @typedef {{ bytesLeft: number, pause: number }} ExpiryResult pause in CPU milliseconds of the main thread */

/** @param {{ contender: string, keys: number, window: number }} input @returns {Promise<ExpiryResult>} */
async function measure({ contender, keys, window }) {
  const before = heapBytes()
  const subject = await subjectOf(contender, { burst: 5, quota: 5, window, keys })
  await insert(subject, keys, pauses())
  const watch = pauses()
  watch.start()
  // Sliding windows count two windows long; then the sweep needs a while.
  const end = performance.now() + 2 * window + 2000
  while (performance.now() < end) {
    await sleep(1)
    watch.mark()
  }
  const bytesLeft = heapBytes() - before
  // The limiter is asked once more, so that it cannot have been collected before it was weighed.
  await insert(subject, 1000, pauses())
  return { bytesLeft, pause: watch.longest() }
}

reportToParent(await measure(inputFromParent()))
