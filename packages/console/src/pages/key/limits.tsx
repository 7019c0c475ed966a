// The limits of one key, rule by rule: what is left and when it is free.
import { askGrant, askOverride, type Subject } from '../../changes.ts'
import { mayChange } from '../../live.ts'
import { Level } from '../../parts/level.tsx'
import { hrefOf } from '../../router.ts'
import type { ConditionalRule, KeyReading, Outcome } from '../../types.ts'
import { count, limitWords, needWords, shown, span } from '../../words.ts'

export function Limits({
  reading: { decision, conditional },
  subject,
  again,
}: {
  readonly reading: Pick<KeyReading, 'decision' | 'conditional'>
  readonly subject: Subject
  readonly again: () => void
}) {
  const unread = conditional.filter(({ outcome }) => outcome === null)
  return (
    <>
      {decision.outcomes.length + conditional.length === 0 && (
        <p class="empty">No rule counts this key.</p>
      )}
      <ul class="limits">
        {decision.outcomes.map((outcome) => (
          <Row key={outcome.rule} outcome={outcome} subject={subject} again={again} />
        ))}
        {conditional.map(
          ({ rule, needs, attributes, outcome }) =>
            outcome !== null && (
              <Row
                key={`${rule} ${JSON.stringify(needs)}`}
                outcome={outcome}
                needs={needs}
                subject={{ ...subject, attributes }}
                again={again}
              />
            ),
        )}
      </ul>
      {unread.length > 0 && (
        <p class="hint">
          Not read:{' '}
          {unread.map(({ rule, needs }) => `${shown(rule)} (at ${needWords(needs)})`).join(', ')}.
          They apply only to some requests, and count by attributes that are not given here.
        </p>
      )}
      {decision.skipped.length > 0 && (
        <p class="hint">
          Skipped: {decision.skipped.map(({ rule }) => shown(rule)).join(', ')}. They count by
          attributes that are not given here.
        </p>
      )}
    </>
  )
}

function Row({
  outcome,
  needs,
  subject,
  again,
}: {
  readonly outcome: Outcome
  /** The other attributes that the rule depends on. */
  readonly needs?: ConditionalRule['needs']
  readonly subject: Subject
  readonly again: () => void
}) {
  const { rule, limit, remaining, allowed, retryAfter, resetAfter, shadow } = outcome
  return (
    <li>
      <div class="bar">
        <h3>
          <a href={hrefOf('rule', { policy: subject.policy, rule })}>{shown(rule)}</a>
        </h3>
        {shadow === true && <span class="tag">shadow</span>}
        {needs !== undefined && (
          <span class={`tag key ${allowed || shadow === true ? '' : 'bad'}`}>
            depends on the{' '}
            {Object.keys(needs)
              .map((name) => shown(name, 30))
              .join(' and ')}
          </span>
        )}
        <span class="hint">{limitWords(limit)}</span>
        {mayChange.value && (
          <>
            <button
              type="button"
              onClick={() => askGrant(subject, rule, Math.max(1, limit.burst - remaining), again)}
            >
              Grant
            </button>
            <button type="button" onClick={() => askOverride(subject, rule, again)}>
              Override
            </button>
          </>
        )}
      </div>
      <Level
        share={limit.burst === 0 ? 0 : remaining / limit.burst}
        name={`What is left under ${rule}`}
      />
      <p class="hint">
        {needs !== undefined && `At ${needWords(needs)}: `}
        {count(remaining)} of {count(limit.burst)} left
        {allowed ? '' : `; free in ${retryAfter === null ? 'never' : span(retryAfter)}`}
        {resetAfter > 0 && `; full in ${span(resetAfter)}`}
      </p>
    </li>
  )
}
