// One key: its limits, what is left, when it is free, why it was refused, and what operators set for it.
import { admin } from '../api.ts'
import { askBlock, askGrant, askOverride, askReset, askUnblock } from '../changes.ts'
import { mayChange } from '../live.ts'
import { Loading, useLoad } from '../parts/load.tsx'
import { hrefOf, route } from '../router.ts'
import type { Attributes, KeyReading, Outcome } from '../types.ts'
import { count, keyWords, limitWords, shown, span } from '../words.ts'
import { Why } from './why.tsx'

export function KeyPage() {
  const { policy = '', ...attributes } = Object.fromEntries(route.value.query) as Record<
    string,
    string
  >
  const id = JSON.stringify([policy, attributes])
  const loaded = useLoad(
    () => admin<KeyReading>('read', { ...(policy === '' ? {} : { policy }), attributes }),
    [id],
    2000,
  )
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf('keys')}>Keys</a> / {shown(policy)}
      </p>
      <h1 tabIndex={-1} class="key">
        {keyWords(attributes)}
      </h1>
      <Loading of={loaded}>
        {(reading) => <Reading reading={reading} attributes={attributes} again={loaded.again} />}
      </Loading>
      <Why attributes={attributes} policy={policy} />
    </>
  )
}

function Reading({
  reading,
  attributes,
  again,
}: {
  readonly reading: KeyReading
  readonly attributes: Attributes
  readonly again: () => void
}) {
  const { policy, decision, block } = reading
  const subject = { policy, attributes }
  const level = block !== null || !decision.allowed ? 'bad' : 'good'
  return (
    <>
      <section class={`verdict ${level}`} aria-label="Now">
        {block !== null ? (
          <>
            <p class="headline">Blocked by {shown(block.by)}.</p>
            <p>
              Until {new Date(block.until).toLocaleString('en-GB')}
              {block.note === '' ? '.' : `: ${shown(block.note, 200)}`}
            </p>
          </>
        ) : (
          <>
            <p class="headline">
              {decision.allowed ? 'The next request is allowed.' : 'The next request is refused.'}
            </p>
            <p>
              {decision.allowed
                ? `${count(decision.remaining)} ${decision.remaining === 1 ? 'unit is' : 'units are'} left.`
                : `By ${decision.rule ?? 'no rule'}; free in ${decision.retryAfter === null ? 'never: the cost is above the limit' : span(decision.retryAfter)}.`}
            </p>
          </>
        )}
        {mayChange.value && (
          <div class="buttons">
            {block === null ? (
              <button type="button" class="danger" onClick={() => askBlock(subject, again)}>
                Block
              </button>
            ) : (
              <button
                type="button"
                onClick={() =>
                  askUnblock({ policy: block.policy, attributes: block.attributes }, again)
                }
              >
                Unblock
              </button>
            )}
            <button type="button" onClick={() => askReset(subject, again)}>
              Reset
            </button>
          </div>
        )}
      </section>
      <section class="panel" aria-labelledby="limits">
        <h2 id="limits">Limits</h2>
        {decision.outcomes.length === 0 && <p class="empty">No rule counts this key.</p>}
        <ul class="limits">
          {decision.outcomes.map((outcome) => (
            <Level key={outcome.rule} outcome={outcome} subject={subject} again={again} />
          ))}
        </ul>
        {decision.skipped.length > 0 && (
          <p class="hint">
            Skipped: {decision.skipped.map(({ rule }) => shown(rule)).join(', ')}. They count by
            attributes that are not given here.
          </p>
        )}
      </section>
    </>
  )
}

function Level({
  outcome,
  subject,
  again,
}: {
  readonly outcome: Outcome
  readonly subject: { readonly policy: string; readonly attributes: Attributes }
  readonly again: () => void
}) {
  const { rule, limit, remaining, allowed, retryAfter, resetAfter, shadow } = outcome
  const share = limit.burst === 0 ? 0 : Math.min(1, remaining / limit.burst)
  return (
    <li>
      <div class="bar">
        <h3>
          <a href={hrefOf('rule', { policy: subject.policy, rule })}>{shown(rule)}</a>
        </h3>
        {shadow === true && <span class="tag">shadow</span>}
        <span class="hint">{limitWords(limit)}</span>
      </div>
      <meter
        min={0}
        max={1}
        low={0.1}
        optimum={1}
        value={share}
        aria-label={`What is left under ${rule}`}
      />
      <p>
        {count(remaining)} of {count(limit.burst)} left
        {allowed ? '' : `; free in ${retryAfter === null ? 'never' : span(retryAfter)}`}
        {resetAfter > 0 && `; full in ${span(resetAfter)}`}
      </p>
      {mayChange.value && (
        <div class="buttons">
          <button
            type="button"
            onClick={() => askGrant(subject, rule, Math.max(1, limit.burst - remaining), again)}
          >
            Grant
          </button>
          <button type="button" onClick={() => askOverride(subject, rule, again)}>
            Override
          </button>
        </div>
      )}
    </li>
  )
}
