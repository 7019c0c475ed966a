// The first page: one sentence on how things are, then what happens over time, rule by rule and key by key.
import { ticks } from '../../live.ts'
import { HeatMap } from '../../parts/heat-map.tsx'
import { Rules } from './rules.tsx'
import { Store } from './store.tsx'
import { Tiles } from './tiles.tsx'
import { TopKeys } from './top-keys.tsx'
import { Traffic } from './traffic.tsx'
import { Verdict } from './verdict.tsx'

export function Overview() {
  return (
    <>
      <Verdict />
      <Tiles />
      <Traffic />
      <Rules />
      <TopKeys />
      <section class="panel" aria-labelledby="levels">
        <h2 id="levels">What was left</h2>
        <p class="hint">
          Each decision by the share of the quota that it left. Dark at the bottom: counts run
          empty.
        </p>
        <HeatMap ticks={ticks.value} />
      </section>
      <Store />
    </>
  )
}
