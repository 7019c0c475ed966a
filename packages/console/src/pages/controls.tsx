// What operators have set: blocks and overrides, each with who set it and when it ends.
import { admin } from '../api.ts'
import { askRemoveOverride, askUnblock } from '../changes.ts'
import { mayChange } from '../live.ts'
import { KeyName } from '../parts/key-name.tsx'
import { Loading, useLoad } from '../parts/load.tsx'
import { Table } from '../parts/table.tsx'
import { hrefOf } from '../router.ts'
import type { Attributes, Block, Override } from '../types.ts'
import { shown, span } from '../words.ts'

export function Controls() {
  const blocks = useLoad(
    () => admin<{ readonly blocks: readonly Block[] }>('blocks?limit=1000'),
    [],
    5000,
  )
  const overrides = useLoad(
    () => admin<{ readonly overrides: readonly Override[] }>('overrides?limit=1000'),
    [],
    5000,
  )
  return (
    <>
      <h1 tabIndex={-1}>Blocks and overrides</h1>
      <section class="panel" aria-labelledby="blocks">
        <h2 id="blocks">Blocks</h2>
        <Loading of={blocks}>
          {({ blocks: list }) => (
            <Table
              name="List of blocks"
              empty="No key is blocked. Block a key on its page."
              columns={[
                'Key',
                'Policy',
                'By',
                'Ends in',
                { optional: 'Note' },
                ...(mayChange.value ? ['Actions'] : []),
              ]}
            >
              {list.map((block) => (
                <tr key={JSON.stringify([block.policy, block.attributes])}>
                  <th scope="row" class="key">
                    <a
                      href={hrefOf('key', {
                        ...(block.policy === null ? {} : { policy: block.policy }),
                        ...block.attributes,
                      })}
                    >
                      <KeyName attributes={block.attributes} />
                    </a>
                  </th>
                  <td>{block.policy === null ? 'all' : shown(block.policy)}</td>
                  <td>{shown(block.by)}</td>
                  <td>{left(block.until)}</td>
                  <td class="wide-only">{shown(block.note, 200)}</td>
                  {mayChange.value && (
                    <td class="actions">
                      <button type="button" onClick={() => askUnblock(block, blocks.again)}>
                        Unblock
                      </button>
                    </td>
                  )}
                </tr>
              ))}
            </Table>
          )}
        </Loading>
      </section>
      <section class="panel" aria-labelledby="overrides">
        <h2 id="overrides">Overrides</h2>
        <Loading of={overrides}>
          {({ overrides: list }) => (
            <Table
              name="List of overrides"
              empty="No limit is overridden beside the file."
              columns={[
                'When',
                'Rule',
                'Limit',
                'By',
                'Ends in',
                { optional: 'Note' },
                ...(mayChange.value ? ['Actions'] : []),
              ]}
            >
              {list.map((override) => (
                <tr key={JSON.stringify([override.policy, override.rule, override.when])}>
                  <th scope="row" class="key">
                    {isPlain(override.when) ? (
                      <KeyName attributes={override.when} />
                    ) : (
                      shown(JSON.stringify(override.when), 120)
                    )}
                  </th>
                  <td>{shown(`${override.policy} / ${override.rule}`)}</td>
                  <td>
                    {shown(
                      typeof override.limit === 'string'
                        ? override.limit
                        : JSON.stringify(override.limit),
                    )}
                    {override.idle !== null && (
                      <span class="tag" title={override.idle}>
                        not in force
                      </span>
                    )}
                  </td>
                  <td>{shown(override.by)}</td>
                  <td>{override.until === null ? 'never' : left(override.until)}</td>
                  <td class="wide-only">{shown(override.note, 200)}</td>
                  {mayChange.value && (
                    <td class="actions">
                      <button
                        type="button"
                        onClick={() => askRemoveOverride(override, overrides.again)}
                      >
                        Remove
                      </button>
                    </td>
                  )}
                </tr>
              ))}
            </Table>
          )}
        </Loading>
      </section>
    </>
  )
}

/** Whether a condition is as simple as a key: a value for each attribute. */
function isPlain(when: Readonly<Record<string, unknown>>): when is Attributes {
  return Object.values(when).every((value) => typeof value === 'string')
}

function left(until: string): string {
  return span(Math.max(0, new Date(until).getTime() - Date.now()))
}
