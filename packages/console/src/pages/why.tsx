// Why a key was refused: what the journal of the service keeps of it.
import { admin } from '../api.ts'
import { useLoad } from '../parts/load.tsx'
import type { Attributes } from '../types.ts'
import { shown } from '../words.ts'

interface WhyAnswer {
  readonly explained?: readonly string[]
  readonly sentences?: readonly string[]
}

export function Why({
  attributes,
  policy,
}: {
  readonly attributes: Attributes
  readonly policy: string
}) {
  const query = new URLSearchParams({ ...attributes, ...(policy === '' ? {} : { policy }) })
  const { value, error } = useLoad(
    () => admin<WhyAnswer>(`why?${query.toString()}`),
    [query.toString()],
    5000,
  )
  const sentences = value?.sentences ?? value?.explained ?? []
  return (
    <section class="panel" aria-labelledby="why">
      <h2 id="why">Why it was refused</h2>
      {error !== undefined && <p class="empty">{error}</p>}
      {value !== undefined && sentences.length === 0 && (
        <p class="empty">No refusal of this key is remembered.</p>
      )}
      <ul class="sentences">
        {sentences.map((sentence) => (
          <li key={sentence}>{shown(sentence, 400)}</li>
        ))}
      </ul>
    </section>
  )
}
