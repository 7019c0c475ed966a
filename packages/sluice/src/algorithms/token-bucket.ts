// Token bucket: `burst` tokens at most, `quota` of them coming back evenly over each window.
// Allows at most burst + t * quota / window units in any interval of length t.
import type { Algorithm } from './algorithm.ts'
import * as bucket from './bucket.ts'

export const tokenBucket: Algorithm = { ...bucket, delay: () => 0 }
