// What happened to the service, as marks on every time axis.
import type { Mark } from './parts/chart.tsx'
import type { Tick } from './types.ts'

/** Reloads, and losses of the store. */
export function marksOf(list: readonly Tick[]): readonly Mark[] {
  const marks: Mark[] = []
  for (let i = 1; i < list.length; i++) {
    const [before, tick] = [list[i - 1]!, list[i]!]
    if (tick.generation > before.generation) marks.push({ t: tick.t / 1000, label: 'reload' })
    if (tick.breaker === 'open' && before.breaker === 'closed')
      marks.push({ t: tick.t / 1000, label: 'store lost' })
    if (tick.breaker === 'closed' && before.breaker !== 'closed')
      marks.push({ t: tick.t / 1000, label: 'store back' })
  }
  return marks
}
