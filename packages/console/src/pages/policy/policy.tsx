// The policy in force in words, its validity, what reloads changed, and a place to try a change.
import { ask } from '../../api.ts'
import { ticks } from '../../live.ts'
import { Loading, useLoad } from '../../parts/load.tsx'
import { Table } from '../../parts/table.tsx'
import { VerdictBox } from '../../parts/verdict-box.tsx'
import { hrefOf } from '../../router.ts'
import type { PolicyView, Reload } from '../../types.ts'
import { dateTime, ruleWords, shown } from '../../words.ts'
import { TryChange } from './try-change.tsx'

export function PolicyPage() {
  const loaded = useLoad(() => ask<PolicyView>('/console/policy'), [ticks.value.at(-1)?.generation])
  return (
    <>
      <h1 tabIndex={-1}>Policy</h1>
      <Loading of={loaded}>
        {(view) => (
          <>
            <Validity view={view} />
            {view.policies.map((policy, i) => (
              <section class="panel" aria-label={`Policy ${policy.name}`} key={policy.name}>
                <h2>{shown(policy.name)}</h2>
                <Table
                  name={`Rules of ${policy.name}`}
                  kind="in-words"
                  empty="This policy has no rule."
                  columns={['Rule', 'In words']}
                >
                  {policy.rules.map(({ name: rule }) => (
                    <tr key={rule}>
                      <th scope="row">
                        <a href={hrefOf('rule', { policy: policy.name, rule })}>{shown(rule)}</a>
                      </th>
                      <td>
                        {ruleWords(view.words[i] ?? '', rule).map((line) => (
                          <div key={line}>{shown(line, 300)}</div>
                        ))}
                      </td>
                    </tr>
                  ))}
                </Table>
              </section>
            ))}
            <TryChange view={view} />
            <Reloads list={view.reloads} />
          </>
        )}
      </Loading>
    </>
  )
}

function Validity({ view }: { readonly view: PolicyView }) {
  const problems = view.reloadProblems ?? []
  return (
    <VerdictBox state={problems.length === 0 ? 'good' : 'bad'} name="Validity">
      <p class="headline">
        {problems.length === 0
          ? 'The file is valid and in force.'
          : 'The file has mistakes. The policies before it stay in force.'}
      </p>
      <p>
        Generation {view.generation}
        {view.file !== null && `, from ${shown(view.file.name, 200)}`}.
      </p>
      {problems.map((problem) => (
        <p class="problem" key={problem}>
          {shown(problem, 300)}
        </p>
      ))}
    </VerdictBox>
  )
}

/** What changed while the service ran, the newest first. */
function Reloads({ list }: { readonly list: readonly Reload[] }) {
  return (
    <section class="panel" aria-labelledby="reloads">
      <h2 id="reloads">Reloads</h2>
      <Table
        name="Reloads"
        empty="The policies have not changed since the service began."
        columns={['When', { number: 'Generation' }, 'What changed']}
      >
        {list.toReversed().map(({ at, generation, changes }) => (
          <tr key={generation}>
            <td class="when">{dateTime(at)}</td>
            <td class="number">{generation}</td>
            <td>
              {changes.map((change) => (
                <div key={change}>{shown(change, 200)}</div>
              ))}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  )
}
