// The keys that are refused most: what is left, why, and what an operator may do about each, in place.
import { Fragment } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { askBlock, askGrant, askOverride } from '../../changes.ts'
import { idOf, mayChange, top } from '../../live.ts'
import { KeyName } from '../../parts/key-name.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'
import { Table } from '../../parts/table.tsx'
import { hrefOf } from '../../router.ts'
import type { Offender } from '../../types.ts'
import { count, keyWords, shown } from '../../words.ts'
import { KeyInPlace } from './key-in-place.tsx'

export function TopKeys() {
  const [opened, setOpened] = useState('')
  const order = useRef<readonly string[]>([])
  const keys = opened === '' ? top.value : inOrder(top.value, order.current)
  order.current = keys.map(idOf)
  return (
    <section class="panel" aria-labelledby="top-keys">
      <h2 id="top-keys">Refused most</h2>
      <Table
        name="Keys refused most"
        empty="No key was refused since the service began."
        columns={[
          'Key',
          { optional: 'Rule' },
          { optional: 'Last 5 min' },
          { number: 'Refused' },
          ...(mayChange.value ? [{ optional: 'Actions' }] : []),
        ]}
      >
        {keys.map((offender) => {
          const id = idOf(offender)
          const isOpen = id === opened
          return (
            <Fragment key={id}>
              <TopKey
                offender={offender}
                isOpen={isOpen}
                onToggle={() => setOpened(isOpen ? '' : id)}
              />
              {isOpen && (
                <tr class="more">
                  <td colSpan={5}>
                    <KeyInPlace offender={offender} />
                  </td>
                </tr>
              )}
            </Fragment>
          )
        })}
      </Table>
    </section>
  )
}

function TopKey({
  offender,
  isOpen,
  onToggle,
}: {
  readonly offender: Offender
  readonly isOpen: boolean
  readonly onToggle: () => void
}) {
  const { policy, rule, attributes, refused, error, lately } = offender
  const words = keyWords(attributes)
  return (
    <tr class={isOpen ? 'open' : ''}>
      <th scope="row" class="key">
        <button
          type="button"
          class="opener"
          aria-expanded={isOpen}
          aria-label={`Why ${words} is refused`}
          onClick={onToggle}
        >
          ▸
        </button>
        <a href={hrefOf('key', { policy, ...attributes })}>
          <KeyName attributes={attributes} />
        </a>
      </th>
      <td class="wide-only">{shown(rule)}</td>
      <td class="wide-only">
        <Sparkline
          name={`Refusals of ${words} in the last five minutes`}
          colour="--refused"
          values={lately}
        />
      </td>
      <td class="number">
        {count(refused)}
        {error > 0 && <small> ± {count(error)}</small>}
      </td>
      {mayChange.value && (
        <td class="actions wide-only">
          <button type="button" onClick={() => askGrant({ policy, attributes }, rule, 10)}>
            Grant
          </button>
          <button type="button" onClick={() => askOverride({ policy, attributes }, rule)}>
            Override
          </button>
          <button type="button" onClick={() => askBlock({ policy, attributes })}>
            Block
          </button>
        </td>
      )}
    </tr>
  )
}

/** The keys in the order that they had: no row moves away from the pointer while one is open. New ones come last. */
function inOrder(keys: readonly Offender[], order: readonly string[]): readonly Offender[] {
  const placeOf = (key: Offender): number => {
    const place = order.indexOf(idOf(key))
    return place < 0 ? order.length : place
  }
  return keys.toSorted((a, b) => placeOf(a) - placeOf(b))
}
