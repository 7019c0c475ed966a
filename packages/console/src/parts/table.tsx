// A table in a frame that scrolls by itself, so that a narrow page never does.
import type { ComponentChildren } from 'preact'

/** The head of a column; numbers stand on the right. */
export type Column = string | { readonly number: string }

/** Shows the rows, or one sentence when there is none. */
export function Table({
  name,
  columns,
  empty,
  isPanel = false,
  children,
}: {
  /** What the table lists, for those who do not see it. */
  readonly name: string
  readonly columns: readonly Column[]
  readonly empty: string
  /** Whether it stands alone rather than within a panel. */
  readonly isPanel?: boolean
  readonly children: readonly ComponentChildren[]
}) {
  if (children.length === 0) return <p class="empty">{empty}</p>
  return (
    <div class={isPanel ? 'scroll panel' : 'scroll'} tabIndex={0} role="region" aria-label={name}>
      <table>
        <thead>
          <tr>
            {columns.map((column) =>
              typeof column === 'string' ? (
                <th key={column} scope="col">
                  {column}
                </th>
              ) : (
                <th key={column.number} scope="col" class="number">
                  {column.number}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
