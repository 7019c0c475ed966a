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
    .toSorted((a, b) => b.refused - a.refused || b.allowed - a.allowed)
  const policies = new Set(rows.map(({ policy }) => policy))
  return (
    <section class="panel" aria-labelledby="rules">
      <h2 id="rules">Rules</h2>
      <Table
        name="List of rules"
        empty="No rule has decided anything yet. Send a request, or start the service with --demo."
        columns={[
          'Rule',
          { optional: 'Refused, last 10 min' },
          { number: 'Allowed / min', isOptional: true },
          { number: 'Refused / min' },
          { number: 'Share' },
        ]}
      >
        {rows.map(({ policy, rule, place, allowed, refused }) => (
          <tr key={place}>
            <th scope="row">
              <a href={hrefOf('rule', { policy, rule })}>{shown(rule)}</a>
              {policies.size > 1 && <small> {shown(policy)}</small>}
            </th>
            <td class="wide-only">
              <Sparkline
                name={`Refusals of ${rule} over ten minutes`}
                colour="--refused"
                values={binned(list, place, 2)}
              />
            </td>
            <td class="number wide-only">{count(allowed)}</td>
            <td class="number">{count(refused)}</td>
            <td class={`number ${refused > 0 ? 'refused' : ''}`}>
              {percent(refused, allowed + refused)}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

/** Refusals of a rule, or would-be refusals, in steps of ten seconds. */
export function binned(list: readonly Tick[], place: number, index: 2 | 4): readonly number[] {
  const bins: number[] = []
  for (let i = 0; i < list.length; i += 10) {
    const counts = list
      .slice(i, i + 10)
      .map(({ rules }) => rules.find(([at]) => at === place)?.[index] ?? 0)
    bins.push(counts.reduce((sum, value) => sum + value, 0))
  }
  return bins
}
