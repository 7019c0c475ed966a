// Why a key was refused: what the journal of the service keeps of it, in sentences and in numbers.
import { admin } from '../../api.ts'
import { KeyName } from '../../parts/key-name.tsx'
import { useLoad, type Loaded } from '../../parts/load.tsx'
import { Table } from '../../parts/table.tsx'
import type { Attributes, WhyAnswer } from '../../types.ts'
import { clock, count, dateTime, localTimes, shown } from '../../words.ts'

/** Asks why the key was refused, again every five seconds. */
export function useWhy(attributes: Attributes, policy: string): Loaded<WhyAnswer> {
  const query = new URLSearchParams(policy === '' ? {} : { policy })
  for (const [name, value] of Object.entries(attributes))
    query.append('attribute', `${name}=${value}`)
  return useLoad(() => admin<WhyAnswer>(`why?${query.toString()}`), [query.toString()], 5000)
}

/** Sentences of the service, with times as the reader's clock shows them. */
export function Sentences({ list }: { readonly list: readonly string[] }) {
  return (
    <ul class="sentences">
      {list.map((sentence) => (
        <li key={sentence}>{shown(localTimes(sentence), 600)}</li>
      ))}
    </ul>
  )
}

export function Why({
  attributes,
  policy,
}: {
  readonly attributes: Attributes
  readonly policy: string
}) {
  const { value, error } = useWhy(attributes, policy)
  return (
    <section class="panel" aria-labelledby="why">
      <h2 id="why">Why it was refused</h2>
      {error !== undefined && <p class="empty">{error}</p>}
      {value !== undefined && value.refusals.length === 0 && (
        <p class="empty">No refusal of this key is remembered.</p>
      )}
      {value !== undefined && (
        <>
          {!value.complete && (
            <p class="problem">Redis does not answer: this is what this instance alone has seen.</p>
          )}
          <Sentences list={value.sentences} />
          {value.refusals.map((refusal) => (
            <Filled key={refusal.id} refusal={refusal} />
          ))}
          {value.refusals.length > 0 && (
            <>
              <h3>Last refusals</h3>
              <LastRefusals list={value.refusals} />
            </>
          )}
        </>
      )}
    </section>
  )
}

/** One row for each rule that refused the key. */
function LastRefusals({ list }: { readonly list: WhyAnswer['refusals'] }) {
  return (
    <Table
      name="Last refusals"
      empty=""
      columns={['Rule', { number: 'Times' }, 'First', 'Last', { optional: 'Mode' }, 'Id']}
    >
      {list.map(({ id, rule, count: times, first, last, mode }) => (
        <tr key={id}>
          <th scope="row">{shown(rule)}</th>
          <td class="number">{count(times)}</td>
          <td class="when">{dateTime(first)}</td>
          <td class="when">{dateTime(last)}</td>
          <td class="wide-only">{shown(mode)}</td>
          <td>
            <code>{shown(id)}</code>
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** What took the units of one count, the largest part first. */
function Filled({ refusal }: { readonly refusal: WhyAnswer['refusals'][number] }) {
  const { rule, filledBy, first, last } = refusal
  const most = Math.max(1, ...filledBy.map(({ units }) => units))
  if (filledBy.length === 0) return null
  return (
    <figure class="filled" aria-label={`What filled ${rule}`}>
      <figcaption>
        What filled {shown(rule)}, {clock(Date.parse(first))} to {clock(Date.parse(last))}
      </figcaption>
      <ul>
        {filledBy.map(({ attributes, units, error }) => (
          <li key={JSON.stringify(attributes)}>
            <span class="key">
              <KeyName attributes={attributes} />
            </span>
            <i style={{ width: `${(units / most) * 100}%` }} />
            <b>
              {count(units)}
              {error > 0 && <small> ± {count(error)}</small>}
            </b>
          </li>
        ))}
      </ul>
    </figure>
  )
}
