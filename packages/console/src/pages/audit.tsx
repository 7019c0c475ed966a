// The last lines of the audit log: who changed what, and who was refused.
import { ask } from '../api.ts'
import { Loading, useLoad } from '../parts/load.tsx'
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
        {({ entries }) =>
          entries.length === 0 ? (
            <p class="empty">Nothing was changed since this process began.</p>
          ) : (
            <div class="scroll panel" tabIndex={0} role="region" aria-label="Audit log">
              <table>
                <thead>
                  <tr>
                    <th scope="col">When</th>
                    <th scope="col">Who</th>
                    <th scope="col">From</th>
                    <th scope="col">What</th>
                    <th scope="col">Result</th>
                  </tr>
                </thead>
                <tbody>
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
                </tbody>
              </table>
            </div>
          )
        }
      </Loading>
    </>
  )
}
