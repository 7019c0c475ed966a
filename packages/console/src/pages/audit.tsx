// The last lines of the audit log: who changed what, and who was refused.
import { ask } from '../api.ts'
import { Loading, useLoad } from '../parts/load.tsx'
import { Table } from '../parts/table.tsx'
import type { AuditEntry } from '../types.ts'
import { dateTime, shown } from '../words.ts'

export function Audit() {
  const loaded = useLoad(
    () => ask<{ readonly entries: readonly AuditEntry[] }>('/console/audit'),
    [],
    5000,
  )
  return (
    <>
      <h1 tabIndex={-1}>Audit</h1>
      <p class="hint">
        Who changed what, and who was refused, as far as this process remembers. The whole is in the
        log and the audit file.
      </p>
      <Loading of={loaded}>
        {({ entries }) => (
          <Table
            name="Audit log"
            isPanel
            kind="stacked"
            empty="Nothing was changed since this process began."
            columns={['When', 'Who', { optional: 'From' }, 'What', 'Result']}
          >
            {entries.map((entry, i) => (
              <tr key={`${entry.at} ${i}`}>
                <td class="when">{dateTime(entry.at)}</td>
                <td>{entry.who === '' ? 'unknown' : shown(entry.who)}</td>
                <td class="wide-only">{shown(entry.address)}</td>
                <td>
                  <b>{shown(entry.operation)}</b> {targetOf(entry.target)}
                </td>
                <td>
                  <span class={`tag ${entry.result === 'done' ? 'good' : 'bad'}`}>
                    {entry.result}
                  </span>
                  {entry.why !== null && ` ${shown(entry.why, 120)}`}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Loading>
    </>
  )
}

/** What was changed, field by field without empty ones; nothing where there is no target. */
function targetOf(target: unknown) {
  const fields = Object.entries((target ?? {}) as Readonly<Record<string, unknown>>).filter(
    ([, value]) => value !== '',
  )
  if (fields.length === 0) return null
  return fields.map(([name, value]) => (
    <span key={name}>
      <small>{shown(name, 30)}</small>{' '}
      {shown(typeof value === 'string' ? value : JSON.stringify(value), 120)}{' '}
    </span>
  ))
}
