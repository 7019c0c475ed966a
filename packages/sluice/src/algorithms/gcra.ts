// GCRA, the generic cell rate algorithm: the token bucket seen as a schedule of arrivals. Each unit
// moves the theoretical arrival time on by window / quota; a request is allowed when that time is at
// most burst such steps ahead. Every answer equals the token bucket's.
import type { Algorithm } from './algorithm.ts'
import * as bucket from './bucket.ts'

export const gcra: Algorithm = { ...bucket, delay: () => 0 }
