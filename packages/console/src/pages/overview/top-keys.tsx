// The keys that are refused most, with what an operator may do about each.
import { askBlock, askGrant, askOverride } from '../../changes.ts'
import { idOf, keySeries, mayChange, top } from '../../live.ts'
import { Sparkline } from '../../parts/sparkline.tsx'
import { Table } from '../../parts/table.tsx'
import { hrefOf } from '../../router.ts'
import type { Offender } from '../../types.ts'
import { count, keyWords, shown } from '../../words.ts'

export function TopKeys() {
  return (
    <section class="panel" aria-labelledby="top-keys">
      <h2 id="top-keys">Refused most</h2>
      <Table
        name="Keys refused most"
        empty="No key was refused in the last minutes."
        columns={[
          'Key',
          'Rule',
          'Lately',
          { number: 'Refused' },
          ...(mayChange.value ? ['Actions'] : []),
        ]}
      >
        {top.value.map((offender) => (
          <TopKey key={idOf(offender)} offender={offender} />
        ))}
      </Table>
    </section>
  )
}

function TopKey({ offender }: { readonly offender: Offender }) {
  const { policy, rule, attributes, refused, error } = offender
  const about = { policy, ...attributes }
  return (
    <tr>
      <th scope="row" class="key">
        <a href={hrefOf('key', about)}>{keyWords(attributes)}</a>
      </th>
      <td>{shown(rule)}</td>
      <td>
        <Sparkline
          name={`Refusals of ${keyWords(attributes)}`}
          colour="--refused"
          values={steps(keySeries.get(idOf(offender)) ?? [])}
        />
      </td>
      <td class="number">
        {count(refused)}
        {error > 0 && <small> ± {count(error)}</small>}
      </td>
      {mayChange.value && (
        <td class="actions">
          <button type="button" onClick={() => askGrant({ policy, attributes }, rule, 10)}>
            Grant
          </button>
          <button type="button" onClick={() => askOverride({ policy, attributes }, rule)}>
            Override
          </button>
          <button type="button" onClick={() => askBlock({ policy, attributes })}>
            Block
          </button>
        </td>
      )}
    </tr>
  )
}

/** How much each number has grown since the one before it. */
function steps(totals: readonly number[]): readonly number[] {
  return totals.slice(1).map((value, i) => Math.max(0, value - totals[i]!))
}
