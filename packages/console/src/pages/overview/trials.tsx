// Limits on trial and shadow rules: whom they would refuse if they were in force.
import { admin } from '../../api.ts'
import { names, ticks } from '../../live.ts'
import { Sparkline } from '../../parts/sparkline.tsx'
import { Table } from '../../parts/table.tsx'
import { useLoad } from '../../parts/load.tsx'
import { hrefOf } from '../../router.ts'
import type { Candidates } from '../../types.ts'
import { count, percent, shown } from '../../words.ts'
import { binned } from './rules.tsx'

export function Trials() {
  const { value } = useLoad(() => admin<Candidates>('candidates'), [], 5000)
  const list = ticks.value
  const placeOf = (policy: string, rule: string): number =>
    names.value.findIndex((name) => name.policy === policy && name.rule === rule)
  return (
    <section class="panel" aria-labelledby="trials">
      <h2 id="trials">On trial</h2>
      {value?.candidates.length === 0 ? (
        <p class="empty">
          No limit is on trial. Write <code>candidate: 80/min</code> beside the limit of a rule to
          see whom it would refuse.
        </p>
      ) : (
        <Table
          name="Limits on trial"
          empty="Loading…"
          columns={[
            'Rule',
            { optional: 'Would refuse, last 10 min' },
            { number: 'Newly refused' },
            { number: 'Share' },
          ]}
        >
          {(value?.candidates ?? []).map((one) => {
            const all = one.bothAllow + one.bothRefuse + one.newlyRefused + one.newlyAllowed
            return (
              <tr key={`${one.policy} ${one.rule}`}>
                <th scope="row">
                  <a href={hrefOf('rule', { policy: one.policy, rule: one.rule })}>
                    {shown(one.rule)}
                  </a>{' '}
                  <span class="tag">{one.kind}</span>
                </th>
                <td class="wide-only">
                  <Sparkline
                    name={`Would-be refusals of ${one.rule} over ten minutes`}
                    colour="--shadow"
                    values={binned(list, placeOf(one.policy, one.rule), 4)}
                  />
                </td>
                <td class="number">{count(one.newlyRefused)}</td>
                <td class={`number ${one.aboveLine ? 'refused' : ''}`}>
                  {percent(one.newlyRefused, all)}
                </td>
              </tr>
            )
          })}
        </Table>
      )}
    </section>
  )
}
