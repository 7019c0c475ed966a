// Why a key was refused: what the journal of the service keeps of it, in sentences and in numbers.
import { admin } from '../api.ts'
import { useLoad } from '../parts/load.tsx'
import type { Attributes } from '../types.ts'
import { clock, count, keyWords, shown } from '../words.ts'

interface WhyAnswer {
  readonly sentences: readonly string[]
  readonly complete: boolean
  readonly refusals: readonly {
    readonly id: string
    readonly rule: string
    readonly count: number
    readonly first: string
    readonly last: string
    readonly mode: string
    readonly filledBy: readonly {
      readonly attributes: Attributes
      readonly units: number
      readonly error: number
    }[]
  }[]
}

export function Why({
  attributes,
  policy,
}: {
  readonly attributes: Attributes
  readonly policy: string
}) {
  const query = new URLSearchParams(policy === '' ? {} : { policy })
  for (const [name, value] of Object.entries(attributes))
    query.append('attribute', `${name}=${value}`)
  const { value, error } = useLoad(
    () => admin<WhyAnswer>(`why?${query.toString()}`),
    [query.toString()],
    5000,
  )
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
          <ul class="sentences">
            {value.sentences.map((sentence) => (
              <li key={sentence}>{shown(sentence, 600)}</li>
            ))}
          </ul>
          {value.refusals.map((refusal) => (
            <Filled key={refusal.id} refusal={refusal} />
          ))}
        </>
      )}
    </section>
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
            <span class="key">{keyWords(attributes)}</span>
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
