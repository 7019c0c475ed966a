// How the service itself is: its store, its policies and what it would warn of.
import { admin } from '../api.ts'
import { detail } from '../live.ts'
import { Loading, useLoad } from '../parts/load.tsx'
import type { ServiceState } from '../types.ts'
import { count, shown } from '../words.ts'

export function Health() {
  const loaded = useLoad(() => admin<ServiceState>('state'), [], 3000)
  return (
    <>
      <h1 tabIndex={-1}>Health</h1>
      <Loading of={loaded}>
        {(state) => (
          <>
            <section class={`verdict ${state.degraded ? 'bad' : 'good'}`} aria-label="Verdict">
              <p class="headline">
                {state.degraded ? 'The store does not answer.' : 'The service is well.'}
              </p>
              <p>
                Sluice {state.version}, {state.status}, generation {state.generation} of the
                policies.
              </p>
            </section>
            <section class="panel" aria-labelledby="store-state">
              <h2 id="store-state">Store</h2>
              <dl class="facts">
                {Object.entries(state.store).map(([name, value]) => (
                  <div key={name}>
                    <dt>{name}</dt>
                    <dd>{typeof value === 'number' ? count(value) : shown(String(value))}</dd>
                  </div>
                ))}
              </dl>
            </section>
            <section class="panel" aria-labelledby="policies-state">
              <h2 id="policies-state">Policies</h2>
              <table>
                <thead>
                  <tr>
                    <th scope="col">Policy</th>
                    <th scope="col">Rules</th>
                    <th scope="col">Breaker</th>
                  </tr>
                </thead>
                <tbody>
                  {state.policies.map(({ name, rules, breaker }) => (
                    <tr key={name}>
                      <th scope="row">{shown(name)}</th>
                      <td>{rules.map((rule) => shown(rule)).join(', ')}</td>
                      <td>{breaker ?? 'none: the store is in this process'}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          </>
        )}
      </Loading>
      {detail.value.workers !== undefined && (
        <section class="panel" aria-labelledby="workers">
          <h2 id="workers">Workers</h2>
          <pre tabIndex={0}>{JSON.stringify(detail.value.workers, null, 2)}</pre>
        </section>
      )}
    </>
  )
}
