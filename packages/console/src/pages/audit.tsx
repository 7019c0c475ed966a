// The last lines of the audit log: who changed what, and who was refused.
import { ask } from '../api.ts'
import { Loading, useLoad } from '../parts/load.tsx'
import { Table } from '../parts/table.tsx'
import type { AuditEntry } from '../types.ts'
import { shown } from '../words.ts'

export function Audit() {
  const loaded = useLoad(
    () => ask<{ readonly entries: readonly AuditEntry[] }>('/console/audit'),
    [],
    5000,
  )
  return (
    <>
      <h1 tabIndex={-1}>Audit</h1>
      <Loading of={loaded}>
        {({ entries }) => (
          <Table
            name="Audit log"
            isPanel
            empty="Nothing was changed since this process began."
            columns={['When', 'Who', 'From', 'What', 'Result']}
          >
            {entries.map((entry, i) => (
              <tr key={`${entry.at} ${i}`}>
                <td>{new Date(entry.at).toLocaleString('en-GB')}</td>
                <td>{entry.who === '' ? 'unknown' : shown(entry.who)}</td>
                <td>{shown(entry.address)}</td>
                <td>
                  {shown(entry.operation)}{' '}
                  <code>{shown(JSON.stringify(entry.target ?? {}), 160)}</code>
                </td>
                <td class={entry.result === 'done' ? '' : 'refused'}>
                  {entry.result}
                  {entry.why !== null && `: ${shown(entry.why, 120)}`}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Loading>
    </>
  )
}
