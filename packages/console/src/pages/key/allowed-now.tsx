// What a key that is not refused may do next, and which rules depend on more than the key.
import type { State } from '../../parts/verdict-box.tsx'
import type { ConditionalRule, KeyReading } from '../../types.ts'
import { clock, count, needWords, shown } from '../../words.ts'

/** A key is well only if no rule refuses any request of it. */
export function stateOf({ block, decision, conditional }: KeyReading): State {
  if (block !== null || !decision.allowed) return 'bad'
  return conditional.some(isRefusing) ? 'warn' : 'good'
}

/** A promise only of the rules that the key alone decides. */
export function AllowedNow({ reading }: { readonly reading: KeyReading }) {
  const { decision, conditional } = reading
  const { remaining, outcomes, skipped } = decision
  const refusing = conditional.filter(isRefusing)
  const allowed =
    conditional.length + skipped.length === 0
      ? 'The next request is allowed'
      : 'Allowed by the rules that need no other attribute'
  return (
    <>
      <p class="headline">{[allowed, ...refusing.map(refusalWords)].join('; ')}.</p>
      {outcomes.length > 0 && (
        <p>
          {count(remaining)} {remaining === 1 ? 'unit is' : 'units are'} left
          {refusing.length > 0 && ` by ${shown(decision.rule ?? '')}`}.
        </p>
      )}
    </>
  )
}

function isRefusing({ allowed }: ConditionalRule): boolean {
  return allowed === false
}

function refusalWords({ rule, needs, outcome }: ConditionalRule): string {
  const wait = outcome?.retryAfter ?? null
  const end = wait === null ? '' : ` until ${clock(Date.now() + wait)}`
  return `${shown(rule)}, at ${needWords(needs)}, refuses it${end}`
}
