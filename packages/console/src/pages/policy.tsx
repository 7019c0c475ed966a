// The policy in force, and a place to try a change on the traffic of the last minutes before anything is saved.
import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { ticks } from '../live.ts'
import { Loading, useLoad } from '../parts/load.tsx'
import { Table } from '../parts/table.tsx'
import { hrefOf } from '../router.ts'
import type { PolicyView, Reload, Trial } from '../types.ts'
import { count, keyWords, percent, shown, span } from '../words.ts'

export function PolicyPage() {
  const loaded = useLoad(() => ask<PolicyView>('/console/policy'), [ticks.value.at(-1)?.generation])
  return (
    <>
      <h1 tabIndex={-1}>Policy</h1>
      <Loading of={loaded}>
        {(view) => (
          <>
            <Validity view={view} />
            <section class="panel" aria-labelledby="in-force">
              <h2 id="in-force">In force</h2>
              {view.policies.map(({ name, rules }, i) => (
                <div key={name}>
                  <h3>{shown(name)}</h3>
                  <pre tabIndex={0} aria-label={`${name} in words`}>
                    {(view.words[i] ?? '').split('\n').slice(1).join('\n')}
                  </pre>
                  <p class="hint">
                    {rules.map(({ name: rule }, at) => (
                      <span key={rule}>
                        {at > 0 && ' · '}
                        <a href={hrefOf('rule', { policy: name, rule })}>{shown(rule)}</a>
                      </span>
                    ))}
                  </p>
                </div>
              ))}
            </section>
            <Reloads list={view.reloads} />
            <TryChange view={view} />
          </>
        )}
      </Loading>
    </>
  )
}

function Validity({ view }: { readonly view: PolicyView }) {
  const problems = view.reloadProblems ?? []
  return (
    <section class={`verdict ${problems.length === 0 ? 'good' : 'bad'}`} aria-label="Validity">
      <p class="headline">
        {problems.length === 0 ? 'The file is in force.' : 'The file has mistakes.'}
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
    </section>
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
            <td>{new Date(at).toLocaleString('en-GB')}</td>
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

function TryChange({ view }: { readonly view: PolicyView }) {
  const original = view.file?.text ?? JSON.stringify({ policies: view.policies }, null, 2)
  const [text, setText] = useState(original)
  const [trial, setTrial] = useState<Trial>()
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const run = async (): Promise<void> => {
    setBusy(true)
    setProblem('')
    try {
      setTrial(await ask<Trial>('/console/try', { text }))
    } catch (error) {
      setProblem((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <section class="panel" aria-labelledby="try">
      <h2 id="try">Try a change</h2>
      <p class="hint">
        Edit the file here and see what it would do to the last {count(view.recent)} requests that
        this instance keeps. Nothing is saved.
      </p>
      <textarea
        aria-label="The file"
        spellcheck={false}
        value={text}
        rows={Math.min(28, Math.max(8, text.split('\n').length + 1))}
        onInput={(event) => setText((event.target as HTMLTextAreaElement).value)}
      />
      <p class="buttons">
        <button type="button" class="primary" disabled={isBusy} onClick={() => void run()}>
          Try it
        </button>
        <button type="button" onClick={() => setText(original)} disabled={text === original}>
          Undo all edits
        </button>
      </p>
      <div aria-live="polite">
        {problem !== '' && <p class="problem">{problem}</p>}
        {trial !== undefined && <TrialView trial={trial} />}
      </div>
    </section>
  )
}

function TrialView({ trial: { problems, result } }: { readonly trial: Trial }) {
  if (result === null)
    return (
      <ul class="mistakes">
        {problems.map(({ line, column, message }) => (
          <li class="problem" key={`${line} ${message}`}>
            {line !== null && (
              <b>
                line {line}, column {column}:{' '}
              </b>
            )}
            {shown(message, 300)}
          </li>
        ))}
      </ul>
    )
  const { requests, span: length, refusedBefore, refusedAfter, newlyRefused, newlyAllowed } = result
  if (requests === 0)
    return <p class="empty">The file is valid. There was no request yet to try it on.</p>
  return (
    <>
      <p class="headline">
        The file is valid. {percent(newlyRefused, requests)} of {count(requests)} requests would be
        newly refused.
      </p>
      <p>
        Over {span(length)}: refused {count(refusedBefore)} before, {count(refusedAfter)} after;{' '}
        {count(newlyRefused)} newly refused, {count(newlyAllowed)} newly allowed. Both begin with
        empty counts.
      </p>
      {result.keys.length > 0 && (
        <table>
          <caption>Newly refused most</caption>
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Rule</th>
              <th scope="col" class="number">
                Requests
              </th>
            </tr>
          </thead>
          <tbody>
            {result.keys.map((key) => (
              <tr key={JSON.stringify([key.policy, key.rule, key.attributes])}>
                <th scope="row" class="key">
                  <a href={hrefOf('key', { policy: key.policy, ...key.attributes })}>
                    {keyWords(key.attributes)}
                  </a>
                </th>
                <td>{shown(key.rule)}</td>
                <td class="number">{count(key.newlyRefused)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}
