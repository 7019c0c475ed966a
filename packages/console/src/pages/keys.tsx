// Finds keys: by what they contain, by rule, or those that would be refused now.
import { useState } from 'preact/hooks'
import { admin } from '../api.ts'
import { fieldOf } from '../form.ts'
import { KeyName } from '../parts/key-name.tsx'
import { Level } from '../parts/level.tsx'
import { Loading, useLoad } from '../parts/load.tsx'
import { Table } from '../parts/table.tsx'
import { hrefOf, route } from '../router.ts'
import type { FoundKey } from '../types.ts'
import { count, limitWords, shown, span } from '../words.ts'

interface Page {
  readonly keys: readonly FoundKey[]
  readonly cursor: string | null
}

/** Answers without a key that are passed over before the page says so; each has looked at some thousand keys. */
const MAX_LOOKS = 50

export function Keys() {
  const { query } = route.value
  const text = query.get('text') ?? ''
  const over = query.get('over') === 'true'
  const [cursor, setCursor] = useState<string>()
  const loaded = useLoad(() => {
    const wanted = new URLSearchParams({ limit: '100' })
    if (text !== '') wanted.set('text', text)
    if (over) wanted.set('over', 'true')
    if (cursor !== undefined) wanted.set('cursor', cursor)
    return firstFound(wanted)
  }, [text, over, cursor])
  const search = (event: Event): void => {
    event.preventDefault()
    const wanted = fieldOf(event.target, 'text')
    setCursor(undefined)
    location.hash = hrefOf('keys', {
      ...(wanted === '' ? {} : { text: wanted }),
      ...(fieldOf(event.target, 'over') === '' ? {} : { over: 'true' }),
    })
  }
  return (
    <>
      <h1 tabIndex={-1}>Keys</h1>
      <form class="search" role="search" onSubmit={search}>
        <label>
          Contains
          <input type="search" name="text" defaultValue={text} placeholder="42, 192.0.2.1, …" />
        </label>
        <label class="toggle">
          <input type="checkbox" name="over" defaultChecked={over} /> only those that would be
          refused
        </label>
        <button type="submit" class="primary">
          Search
        </button>
      </form>
      <Loading of={loaded}>
        {({ keys, cursor: next }) => (
          <>
            <Table
              name="Keys"
              isPanel
              empty={
                next === null
                  ? 'No key was found.'
                  : 'No key was found yet; there are more to look at.'
              }
              columns={[
                'Key',
                'Rule',
                { optional: 'Limit' },
                { optional: 'What is left' },
                { number: 'Left' },
                { number: 'Free in' },
              ]}
            >
              {keys.map((found) => (
                <Row key={`${found.policy} ${found.rule} ${found.key}`} found={found} />
              ))}
            </Table>
            <p class="buttons">
              {cursor !== undefined && (
                <button type="button" onClick={() => setCursor(undefined)}>
                  First page
                </button>
              )}
              {next !== null && (
                <button type="button" onClick={() => setCursor(next)}>
                  Next page
                </button>
              )}
            </p>
          </>
        )}
      </Loading>
    </>
  )
}

/** One answer looks at a bounded number of keys. Goes on while nothing was found, as far as is decent. */
async function firstFound(wanted: URLSearchParams): Promise<Page> {
  let page = await admin<Page>(`keys?${wanted.toString()}`)
  for (
    let looks = 1;
    page.keys.length === 0 && page.cursor !== null && looks < MAX_LOOKS;
    looks++
  ) {
    wanted.set('cursor', page.cursor)
    page = await admin<Page>(`keys?${wanted.toString()}`)
  }
  return page
}

function Row({ found }: { readonly found: FoundKey }) {
  const { policy, rule, key, attributes, limit, remaining, allowed, retryAfter } = found
  return (
    <tr>
      <th scope="row" class="key">
        {attributes === null ? (
          shown(key)
        ) : (
          <a href={hrefOf('key', { policy, ...attributes })}>
            <KeyName attributes={attributes} />
          </a>
        )}
      </th>
      <td>
        <a href={hrefOf('rule', { policy, rule })}>{shown(rule)}</a>
      </td>
      <td class="wide-only">{limitWords(limit)}</td>
      <td class="wide-only">
        {remaining !== undefined && (
          <Level
            share={limit.burst === 0 ? 0 : remaining / limit.burst}
            name={`What is left under ${rule}`}
          />
        )}
      </td>
      <td class={`number ${allowed === false ? 'refused' : ''}`}>
        {remaining === undefined ? '–' : count(remaining)}
      </td>
      <td class="number">
        {typeof retryAfter === 'number' && retryAfter > 0 ? span(retryAfter) : 'now'}
      </td>
    </tr>
  )
}
