// One key: its limits, what is left, when it is free, why it was refused, and what operators set for it.
import { admin } from '../../api.ts'
import { askBlock, askReset, askUnblock } from '../../changes.ts'
import { mayChange } from '../../live.ts'
import { KeyName } from '../../parts/key-name.tsx'
import { Loading, useLoad } from '../../parts/load.tsx'
import { VerdictBox } from '../../parts/verdict-box.tsx'
import { hrefOf, route } from '../../router.ts'
import type { Attributes, KeyReading } from '../../types.ts'
import { shown, span } from '../../words.ts'
import { AllowedNow, stateOf } from './allowed-now.tsx'
import { Limits } from './limits.tsx'
import { SetByOperators } from './set-by-operators.tsx'
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
        <KeyName attributes={attributes} />
      </h1>
      <Loading of={loaded}>
        {(reading) => (
          <>
            <Now reading={reading} attributes={attributes} again={loaded.again} />
            <div class="pair">
              <section class="panel" aria-labelledby="limits">
                <h2 id="limits">Limits</h2>
                <Limits
                  reading={reading}
                  subject={{ policy: reading.policy, attributes }}
                  again={loaded.again}
                />
              </section>
              <SetByOperators reading={reading} attributes={attributes} again={loaded.again} />
            </div>
          </>
        )}
      </Loading>
      <Why attributes={attributes} policy={policy} />
    </>
  )
}

function Now({
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
  const { retryAfter } = decision
  return (
    <VerdictBox state={stateOf(reading)} name="Now">
      {block !== null ? (
        <>
          <p class="headline">Blocked by {shown(block.by)}.</p>
          <p>
            Until {new Date(block.until).toLocaleString('en-GB')}
            {block.note === '' ? '.' : `: ${shown(block.note, 200)}`}
          </p>
        </>
      ) : decision.allowed ? (
        <AllowedNow reading={reading} />
      ) : (
        <>
          <p class="headline">The next request is refused.</p>
          <p>
            By {shown(decision.rule ?? 'no rule')};{' '}
            {retryAfter === null
              ? 'never free: the cost is above the limit'
              : `free in ${span(retryAfter)}`}
            .
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
            <button type="button" onClick={() => askUnblock(block, again)}>
              Unblock
            </button>
          )}
          <button type="button" onClick={() => askReset(subject, again)}>
            Reset
          </button>
        </div>
      )}
    </VerdictBox>
  )
}
