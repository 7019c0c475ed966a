// When the store is back, by the answers that a pod has recorded: the same measure ends a run and judges it.
import { ABORTED, DEGRADED, FAILED, type PodRecord, STEADY } from './orders.ts'

/**
 * When the store answered first, of a row of answers; null when there is no such row yet. Only keys that are used once
 * show it, since refusals are remembered.
 */
export function recoveryOf(
  { at, wait, answer, key }: Pick<PodRecord, 'at' | 'wait' | 'answer' | 'key'>,
  back: number,
): number | null {
  let run = 0
  let since: number | null = null
  for (let i = 0; i < at.length; i++) {
    if (at[i]! < back) continue
    if ((answer[i]! & ABORTED) !== 0) continue
    // A request that still waits may yet be answered by the fallback.
    if (wait[i]! < 0 || (answer[i]! & (DEGRADED | FAILED)) !== 0) {
      run = 0
      since = null
      continue
    }
    run += 1
    if (key[i]! >= 0) since ??= at[i]! + wait[i]! - back
    if (run >= STEADY && since !== null) return since
  }
  return null
}
