// The block and the overrides of one key, with who set them, when and until when.
import { admin } from '../../api.ts'
import { askRemoveOverride } from '../../changes.ts'
import { mayChange } from '../../live.ts'
import { Loading, useLoad } from '../../parts/load.tsx'
import type { Attributes, KeyReading, Override } from '../../types.ts'
import { dateTime, shown } from '../../words.ts'

export function SetByOperators({
  reading: { policy, block },
  attributes,
  again,
}: {
  readonly reading: KeyReading
  readonly attributes: Attributes
  readonly again: () => void
}) {
  const loaded = useLoad(
    () => admin<{ readonly overrides: readonly Override[] }>('overrides?limit=1000'),
    [policy, JSON.stringify(attributes)],
    5000,
  )
  return (
    <section class="panel" aria-labelledby="set">
      <h2 id="set">Set by operators</h2>
      <Loading of={loaded}>
        {({ overrides }) => {
          const own = overrides.filter(
            (one) => one.policy === policy && appliesTo(one.when, attributes),
          )
          if (block === null && own.length === 0)
            return <p class="empty">No block and no override concerns this key.</p>
          return (
            <ul class="limits">
              {block !== null && (
                <li>
                  <div class="bar">
                    <h3>Block</h3>
                    <span class="hint">by {shown(block.by)}</span>
                  </div>
                  <p class="hint">
                    Since {dateTime(block.since)}, until {dateTime(block.until)}
                    {block.note !== '' && `: ${shown(block.note, 200)}`}
                  </p>
                </li>
              )}
              {own.map((one) => (
                <li key={JSON.stringify([one.rule, one.when])}>
                  <div class="bar">
                    <h3>{shown(one.rule)}</h3>
                    <span class="hint">
                      {typeof one.limit === 'string'
                        ? shown(one.limit)
                        : shown(JSON.stringify(one.limit))}
                      , by {shown(one.by)}
                    </span>
                    {mayChange.value && (
                      <button
                        type="button"
                        onClick={() =>
                          askRemoveOverride(one, () => {
                            loaded.again()
                            again()
                          })
                        }
                      >
                        Remove
                      </button>
                    )}
                  </div>
                  <p class="hint">
                    Since {dateTime(one.since)},{' '}
                    {one.until === null ? 'without an end' : `until ${dateTime(one.until)}`}
                    {one.note !== '' && `: ${shown(one.note, 200)}`}
                  </p>
                </li>
              ))}
            </ul>
          )
        }}
      </Loading>
    </section>
  )
}

/** Whether a plain condition fits; of networks and patterns the service alone decides. */
function appliesTo(when: Readonly<Record<string, unknown>>, attributes: Attributes): boolean {
  return Object.entries(when).every(([name, wanted]) =>
    (Array.isArray(wanted) ? (wanted as readonly unknown[]) : [wanted]).some(
      (one) => valueOf(one) === attributes[name],
    ),
  )
}

function valueOf(pattern: unknown): unknown {
  return typeof pattern === 'object' && pattern !== null && 'equals' in pattern
    ? pattern.equals
    : pattern
}
