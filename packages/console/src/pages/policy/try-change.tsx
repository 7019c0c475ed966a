// A change of the file, tried on the last requests before anything is saved.
import { useState } from 'preact/hooks'
import { ask } from '../../api.ts'
import { KeyName } from '../../parts/key-name.tsx'
import { Table } from '../../parts/table.tsx'
import { hrefOf } from '../../router.ts'
import type { PolicyView, Trial } from '../../types.ts'
import { count, percent, shown, span } from '../../words.ts'
import { Editor, type Place } from './editor.tsx'

const NONE: ReadonlySet<number> = new Set()

export function TryChange({ view }: { readonly view: PolicyView }) {
  const original = view.file?.text ?? JSON.stringify({ policies: view.policies }, null, 2)
  const [text, setText] = useState(original)
  const [trial, setTrial] = useState<Trial & { readonly text: string }>()
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [goTo, setGoTo] = useState<Place>()
  const run = async (): Promise<void> => {
    setBusy(true)
    setProblem('')
    try {
      setTrial({ ...(await ask<Trial>('/console/try', { text })), text })
    } catch (error) {
      setProblem((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  // Marks belong to the text that was tried, not to the one that is being written.
  const wrong =
    trial === undefined || trial.text !== text
      ? NONE
      : new Set(trial.problems.flatMap(({ line }) => line ?? []))
  return (
    <section class="panel" aria-labelledby="try">
      <h2 id="try">Try a change</h2>
      <p class="hint">
        Edit the file here and see what it would do to the last {count(view.recent)} requests that
        this instance keeps. Nothing is saved.
      </p>
      <Editor name="The file" text={text} wrong={wrong} goTo={goTo} onInput={setText} />
      <p class="buttons">
        <button type="button" class="primary" disabled={isBusy} onClick={() => void run()}>
          {isBusy ? 'Trying…' : 'Try it'}
        </button>
        <button type="button" onClick={() => setText(original)} disabled={text === original}>
          Undo all edits
        </button>
      </p>
      <div aria-live="polite">
        {problem !== '' && <p class="problem">{problem}</p>}
        {trial !== undefined && <TrialView trial={trial} onGoTo={setGoTo} />}
      </div>
    </section>
  )
}

function TrialView({
  trial: { problems, changes, result },
  onGoTo,
}: {
  readonly trial: Trial
  readonly onGoTo: (place: Place) => void
}) {
  if (result === null)
    return (
      <ul class="mistakes">
        {problems.map(({ line, column, message }) => (
          <li class="problem" key={`${line} ${message}`}>
            {line !== null && (
              <button
                type="button"
                class="quiet"
                onClick={() => onGoTo({ line, column: column ?? 1 })}
              >
                line {line}, column {column}:
              </button>
            )}{' '}
            {shown(message, 300)}
          </li>
        ))}
      </ul>
    )
  return (
    <div class="trial">
      {changes.length === 0 ? (
        <p class="hint">It changes no limit.</p>
      ) : (
        <ul>
          {changes.map((change) => (
            <li key={change}>{shown(change, 300)}</li>
          ))}
        </ul>
      )}
      <Effect result={result} />
    </div>
  )
}

function Effect({ result }: { readonly result: NonNullable<Trial['result']> }) {
  const { requests, span: length, refusedBefore, refusedAfter, newlyRefused, newlyAllowed } = result
  if (requests === 0)
    return <p class="empty">The file is valid. There was no request yet to try it on.</p>
  const cells = [
    ['Refused before', refusedBefore],
    ['Refused after', refusedAfter],
    ['Newly refused', newlyRefused],
    ['Newly allowed', newlyAllowed],
  ] as const
  return (
    <>
      <p class="headline">
        The file is valid. {percent(newlyRefused, requests)} of {count(requests)} requests would be
        newly refused.
      </p>
      <dl class="tiles">
        {cells.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{count(value)}</dd>
          </div>
        ))}
      </dl>
      <p class="hint">Over {span(length)}. Both begin with empty counts.</p>
      {result.keys.length > 0 && (
        <Table
          name="Newly refused most"
          empty=""
          columns={['Newly refused most', 'Rule', { number: 'Requests' }]}
        >
          {result.keys.map((key) => (
            <tr key={JSON.stringify([key.policy, key.rule, key.attributes])}>
              <th scope="row" class="key">
                <a href={hrefOf('key', { policy: key.policy, ...key.attributes })}>
                  <KeyName attributes={key.attributes} />
                </a>
              </th>
              <td>{shown(key.rule)}</td>
              <td class="number">{count(key.newlyRefused)}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}
