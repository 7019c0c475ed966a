// All algorithms by name. A new one is one file and one line here.
import type { AlgorithmName, Limit } from '../limit/limit.ts'
import type { Algorithm } from './algorithm.ts'
import { fixedWindow } from './fixed-window.ts'
import { gcra } from './gcra.ts'
import { leakyBucket } from './leaky-bucket.ts'
import { slidingLog } from './sliding-log.ts'
import { slidingWindow } from './sliding-window.ts'
import { tokenBucket } from './token-bucket.ts'

const algorithms: Readonly<Record<AlgorithmName, Algorithm>> = {
  'token-bucket': tokenBucket,
  gcra,
  'leaky-bucket': leakyBucket,
  'fixed-window': fixedWindow,
  'sliding-window': slidingWindow,
  // Its states are richer than the common ones and only ever its own.
  'sliding-log': slidingLog as unknown as Algorithm,
}

/** The algorithm of a limit. */
export function algorithmOf(limit: Limit): Algorithm {
  return algorithms[limit.algorithm]
}
