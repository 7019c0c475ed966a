// A table in a frame that scrolls by itself, so that a narrow page never does.
import type { ComponentChildren } from 'preact'

/** The head of a column: numbers stand on the right, optional ones are left out on a narrow page. */
export type Column =
  | string
  | { readonly number: string; readonly isOptional?: boolean }
  | { readonly optional: string }

/** Shows the rows, or one sentence when there is none. */
export function Table({
  name,
  columns,
  empty,
  isPanel = false,
  kind = '',
  children,
}: {
  /** What the table lists, for those who do not see it. */
  readonly name: string
  readonly columns: readonly Column[]
  readonly empty: string
  /** Whether it stands alone rather than within a panel. */
  readonly isPanel?: boolean
  /** A class of its own. */
  readonly kind?: string
  readonly children: readonly ComponentChildren[]
}) {
  if (children.length === 0) return <p class="empty">{empty}</p>
  return (
    <div class={isPanel ? 'scroll panel' : 'scroll'} tabIndex={0} role="region" aria-label={name}>
      <table class={kind}>
        <thead>
          <tr>
            {columns.map(headOf).map(([label, kind]) => (
              <th key={label} scope="col" class={kind}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

function headOf(column: Column): readonly [label: string, kind: string] {
  if (typeof column === 'string') return [column, '']
  if ('optional' in column) return [column.optional, 'wide-only']
  return [column.number, column.isOptional === true ? 'number wide-only' : 'number']
}
