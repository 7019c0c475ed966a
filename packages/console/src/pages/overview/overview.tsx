// The first page: one sentence on how things are, then what happens over time, rule by rule and key by key.
import { ticks } from '../../live.ts'
import { HeatMap } from '../../parts/heat-map.tsx'
import { Out, Processes } from './out.tsx'
import { Rules } from './rules.tsx'
import { Store } from './store.tsx'
import { Tiles } from './tiles.tsx'
import { TopKeys } from './top-keys.tsx'
import { Traffic } from './traffic.tsx'
import { Trials } from './trials.tsx'
import { Verdict } from './verdict.tsx'

export function Overview() {
  return (
    <>
      <Verdict />
      <Tiles />
      <Traffic />
      <div class="pair wide">
        <Rules />
        <Trials />
      </div>
      <TopKeys />
      <div class="pair">
        <section class="panel" aria-labelledby="levels">
          <h2 id="levels">What was left of the quota</h2>
          <p class="hint">Every decision by the share that it left. Orange: counts run empty.</p>
          <HeatMap ticks={ticks.value} />
        </section>
        <Store />
      </div>
      <div class="pair">
        <Out />
        <Processes />
      </div>
    </>
  )
}
