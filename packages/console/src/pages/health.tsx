// How the service itself is: its store, its policies and what it would warn of.
import { admin } from '../api.ts'
import { detail } from '../live.ts'
import { Loading, useLoad } from '../parts/load.tsx'
import { Table } from '../parts/table.tsx'
import { VerdictBox } from '../parts/verdict-box.tsx'
import type { ServiceState } from '../types.ts'
import { count, shown, span } from '../words.ts'

interface StoreView {
  readonly latency: {
    readonly count: number
    readonly p50: number | null
    readonly p99: number | null
  } | null
  readonly server: {
    readonly usedMemory: number | null
    readonly maxMemory: number | null
    readonly evictedKeys: number | null
    readonly evictionPolicy: string | null
    readonly version: string | null
    readonly clockOffset: number | null
  } | null
}

function bytesOf(value: number): string {
  return value < 1e6
    ? `${count(Math.ceil(value / 1e3))} kB`
    : `${count(Math.round(value / 1e6))} MB`
}

/** Names of the service, as people say them. */
const FACTS: Readonly<Record<string, string>> = {
  kind: 'kept in',
  bytes: 'size of the counts',
  evicted: 'evicted keys',
  overflowed: 'keys that share one count',
}

function factText(name: string, value: unknown): string {
  if (typeof value !== 'number') return shown(String(value))
  return name === 'bytes' ? bytesOf(value) : count(value)
}

/** The state of the store as a sentence. */
function factsOf(view: StoreView | undefined): Readonly<Record<string, unknown>> {
  const { latency, server } = view ?? {}
  const took = (value: number | null | undefined) =>
    typeof value !== 'number' ? undefined : span(value)
  const calls = latency === null || latency?.count === 0 ? undefined : latency
  const bytes = (value: number | null | undefined) =>
    typeof value !== 'number' ? undefined : bytesOf(value)
  const facts = {
    'half of the calls within': took(calls?.p50),
    '99 % of the calls within': took(calls?.p99),
    version: server?.version,
    memory: bytes(server?.usedMemory),
    'memory, at most': server?.maxMemory === 0 ? 'no limit' : bytes(server?.maxMemory),
    'evicted keys': server?.evictedKeys,
    'eviction policy': server?.evictionPolicy,
    'clock offset':
      typeof server?.clockOffset === 'number' ? took(Math.abs(server.clockOffset)) : undefined,
  }
  return Object.fromEntries(
    Object.entries(facts).filter(([, value]) => value !== undefined && value !== null),
  )
}

interface Found {
  readonly findings: readonly {
    readonly name: string
    readonly level: 'ok' | 'warning' | 'error'
    readonly message: string
  }[]
}

const LEVELS = { ok: 'good', warning: 'warn', error: 'bad' } as const

/** What `sluice doctor` finds. */
function Findings() {
  const loaded = useLoad(() => admin<Found>('doctor'), [], 10_000)
  return (
    <section class="panel" aria-labelledby="findings">
      <h2 id="findings">What sluice doctor finds</h2>
      <Loading of={loaded}>
        {({ findings }) => (
          <ul class="findings">
            {findings.map(({ name, level, message }) => (
              <li key={name}>
                <span class={`tag ${LEVELS[level]}`}>{level}</span> <b>{name}</b>{' '}
                <span>{shown(message, 300)}</span>
              </li>
            ))}
          </ul>
        )}
      </Loading>
    </section>
  )
}

export function Health() {
  const loaded = useLoad(() => admin<ServiceState>('state'), [], 3000)
  const store = useLoad(() => admin<StoreView>('store'), [], 3000)
  return (
    <>
      <h1 tabIndex={-1}>Health</h1>
      <Loading of={loaded}>
        {(state) => (
          <>
            <VerdictBox state={state.degraded ? 'bad' : 'good'} name="Verdict">
              <p class="headline">
                {state.degraded ? 'The store does not answer.' : 'The service is well.'}
              </p>
              <p>
                Sluice {state.version}, {state.status}, generation {state.generation} of the
                policies.
              </p>
            </VerdictBox>
            <Findings />
            <section class="panel" aria-labelledby="store-state">
              <h2 id="store-state">Store</h2>
              <dl class="facts">
                {Object.entries({ ...state.store, ...factsOf(store.value) }).map(
                  ([name, value]) => (
                    <div key={name}>
                      <dt>{FACTS[name] ?? name}</dt>
                      <dd>{factText(name, value)}</dd>
                    </div>
                  ),
                )}
              </dl>
            </section>
            <section class="panel" aria-labelledby="policies-state">
              <h2 id="policies-state">Policies</h2>
              <Table
                name="List of policies"
                empty="There is no policy."
                columns={['Policy', 'Rules', 'Breaker']}
              >
                {state.policies.map(({ name, rules, breaker }) => (
                  <tr key={name}>
                    <th scope="row">{shown(name)}</th>
                    <td>{rules.map((rule) => shown(rule)).join(', ')}</td>
                    <td>{breaker ?? 'none: the store is in this process'}</td>
                  </tr>
                ))}
              </Table>
            </section>
          </>
        )}
      </Loading>
      {detail.value.workers !== undefined && (
        <section class="panel" aria-labelledby="workers">
          <h2 id="workers">Workers</h2>
          <p>
            {detail.value.workers.ready} of {detail.value.workers.wanted} are ready for traffic.
          </p>
        </section>
      )}
    </>
  )
}
