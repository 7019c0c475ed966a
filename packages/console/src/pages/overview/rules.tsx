// Every rule with what it did in the last minute.
import { lastMinute, names, sumsOf, ticks } from '../../live.ts'
import { Sparkline } from '../../parts/sparkline.tsx'
import { Table } from '../../parts/table.tsx'
import { hrefOf } from '../../router.ts'
import type { Tick } from '../../types.ts'
import { count, percent, shown } from '../../words.ts'

export function Rules() {
  const list = ticks.value
  const rows = names.value
    .map((name, place) => ({ ...name, place, ...sumsOf(lastMinute.value, place) }))
    .filter(({ rule }) => rule !== '')
  return (
    <section class="panel" aria-labelledby="rules">
      <h2 id="rules">Rules</h2>
      <Table
        name="List of rules"
        empty="No rule has decided anything yet."
        columns={[
          'Rule',
          'Policy',
          'Refused, last 10 min',
          { number: 'Allowed / min' },
          { number: 'Refused / min' },
          { number: 'Share' },
          { number: 'Would refuse' },
        ]}
      >
        {rows.map(({ policy, rule, place, allowed, refused, shadow }) => (
          <tr key={place}>
            <th scope="row">
              <a href={hrefOf('rule', { policy, rule })}>{shown(rule)}</a>
            </th>
            <td>{shown(policy)}</td>
            <td>
              <Sparkline
                name={`Refusals of ${rule} over ten minutes`}
                colour="--refused"
                values={binned(list, place)}
              />
            </td>
            <td class="number">{count(allowed)}</td>
            <td class="number">{count(refused)}</td>
            <td class={`number ${refused > 0 ? 'refused' : ''}`}>
              {percent(refused, allowed + refused)}
            </td>
            <td class="number">{shadow === 0 ? '–' : count(shadow)}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

/** Refusals in steps of ten seconds. */
function binned(list: readonly Tick[], place: number): readonly number[] {
  const bins: number[] = []
  for (let i = 0; i < list.length; i += 10) bins.push(sumsOf(list.slice(i, i + 10), place).refused)
  return bins
}
