// The ends and the middle of a time axis, below pictures that draw none themselves.
import type { Tick } from '../types.ts'
import { clock } from '../words.ts'

export function Times({ ticks }: { readonly ticks: readonly Tick[] }) {
  if (ticks.length < 2) return null
  const shown = [ticks[0]!, ticks[Math.floor(ticks.length / 2)]!, ticks.at(-1)!]
  return (
    <div class="times" aria-hidden="true">
      {shown.map(({ t }) => (
        <span key={t}>{clock(t)}</span>
      ))}
    </div>
  )
}
