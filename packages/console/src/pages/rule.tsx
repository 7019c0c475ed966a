// One rule: what it means, its traffic, and what its candidate would change.
import { admin, ask } from '../api.ts'
import { names, sumsOf, ticks } from '../live.ts'
import { Chart } from '../parts/chart.tsx'
import { Diff } from '../parts/diff.tsx'
import { KeyName } from '../parts/key-name.tsx'
import { Loading, useLoad } from '../parts/load.tsx'
import { Table } from '../parts/table.tsx'
import { hrefOf, route } from '../router.ts'
import type { Candidates, PolicyView, Promotion, RuleData } from '../types.ts'
import { count, percent, ruleWords, shown } from '../words.ts'
import { marksOf } from '../marks.ts'

export function RulePage() {
  const policy = route.value.query.get('policy') ?? ''
  const rule = route.value.query.get('rule') ?? ''
  const loaded = useLoad(() => ask<PolicyView>('/console/policy'), [policy, rule])
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf('policy')}>Policy</a> / {shown(policy)}
      </p>
      <h1 tabIndex={-1}>{shown(rule)}</h1>
      <Loading of={loaded}>
        {(view) => {
          const place = view.policies.findIndex(({ name }) => name === policy)
          const data = view.policies[place]?.rules.find(({ name }) => name === rule)
          return data === undefined ? (
            <p class="empty">There is no rule of that name any more.</p>
          ) : (
            <Meaning data={data} words={ruleWords(view.words[place] ?? '', rule)} />
          )
        }}
      </Loading>
      <Traffic policy={policy} rule={rule} />
      <Candidate policy={policy} rule={rule} />
    </>
  )
}

function Meaning({ data, words }: { readonly data: RuleData; readonly words: readonly string[] }) {
  return (
    <section class="panel" aria-labelledby="meaning">
      <h2 id="meaning">What it means</h2>
      <div class="meaning">
        {words.map((line) => (
          <p key={line}>{shown(line, 300)}</p>
        ))}
      </div>
      <details class="as-table">
        <summary>As data</summary>
        <pre tabIndex={0}>{JSON.stringify(data, null, 2)}</pre>
      </details>
    </section>
  )
}

/** What the limit on trial would change, and how to put it in force. */
function Candidate({ policy, rule }: { readonly policy: string; readonly rule: string }) {
  const { value } = useLoad(() => admin<Candidates>('candidates'), [policy, rule], 5000)
  const found = value?.candidates.find((one) => one.policy === policy && one.rule === rule)
  if (found === undefined) return null
  const cells = [
    ['both allow', found.bothAllow],
    ['both refuse', found.bothRefuse],
    ['newly refused', found.newlyRefused],
    ['newly allowed', found.newlyAllowed],
  ] as const
  return (
    <section class="panel" aria-labelledby="trial">
      <h2 id="trial">On trial</h2>
      <p class={found.aboveLine ? 'refused' : ''}>{shown(found.sentence, 400)}</p>
      <dl class="tiles">
        {cells.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{count(value)}</dd>
          </div>
        ))}
      </dl>
      {found.top.length > 0 && (
        <Table
          name="Newly refused most"
          empty=""
          columns={['Newly refused most', { number: 'Requests' }]}
        >
          {found.top.map(({ attributes, count: refused }) => (
            <tr key={JSON.stringify(attributes)}>
              <th scope="row" class="key">
                <a href={hrefOf('key', { policy, ...attributes })}>
                  <KeyName attributes={attributes} />
                </a>
              </th>
              <td class="number">{count(refused)}</td>
            </tr>
          ))}
        </Table>
      )}
      <Promote policy={policy} rule={rule} kind={found.kind} />
    </section>
  )
}

/** The change that puts the limit in force, as a diff of the file. */
function Promote({
  policy,
  rule,
  kind,
}: {
  readonly policy: string
  readonly rule: string
  readonly kind: 'candidate' | 'shadow'
}) {
  const { value } = useLoad(
    () => ask<Promotion>('/console/promotion', { policy, rule }),
    [policy, rule],
    10_000,
  )
  return (
    <>
      <h3>{kind === 'candidate' ? 'Promote it' : 'Enforce it'}</h3>
      <p class="hint">
        Run <code>sluice promote {shown(rule)}</code>
        {value?.diff === null ? `. ${value.why ?? ''}` : ', or apply this change to the file:'}
      </p>
      {typeof value?.diff === 'string' && <Diff text={value.diff} name="The change" />}
    </>
  )
}

function Traffic({ policy, rule }: { readonly policy: string; readonly rule: string }) {
  const place = names.value.findIndex((name) => name.policy === policy && name.rule === rule)
  const list = ticks.value
  const of = (index: 1 | 2 | 4) =>
    list.map(({ rules }) => rules.find(([at]) => at === place)?.[index] ?? 0)
  const sums = sumsOf(list, place)
  const would = of(4)
  return (
    <section class="panel" aria-labelledby="rule-traffic">
      <h2 id="rule-traffic">Decided by this rule, a second</h2>
      <p>
        {count(sums.refused)} of {count(sums.allowed + sums.refused)} decisions were refused in the
        last ten minutes ({percent(sums.refused, sums.allowed + sums.refused)}).
        {sums.shadow > 0 &&
          ` As a candidate or shadow it would have refused ${count(sums.shadow)} more.`}
      </p>
      <Chart
        title={`Decisions of ${rule} a second`}
        times={list.map(({ t }) => t / 1000)}
        lines={[
          { label: 'allowed', colour: '--allowed', values: of(1), filled: true },
          { label: 'refused', colour: '--refused', values: of(2), filled: true },
          ...(would.some((value) => value > 0)
            ? [{ label: 'would be refused', colour: '--shadow', values: would }]
            : []),
        ]}
        marks={marksOf(list)}
      />
    </section>
  )
}
