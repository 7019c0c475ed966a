// Asks once before a change: says what will happen, then what came of it.
import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { fieldOf } from '../form.ts'
import { toast } from './toast.tsx'

/** One value that the question needs. */
interface Field {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly hint?: string
}

/** A change, before it is made. */
export interface Question {
  readonly title: string
  /** What the change will do, in one or two sentences. */
  readonly effect: string
  readonly button: string
  readonly isDangerous?: boolean
  readonly fields?: readonly Field[]
  /** Makes the change; returns what was done, and how to undo it where that is possible. */
  readonly act: (values: Readonly<Record<string, string>>) => Promise<Done>
}

/** A change that was made. */
interface Done {
  readonly said: string
  readonly undo?: () => Promise<unknown>
  /** What the service finds suspicious in the change. */
  readonly warnings?: readonly string[] | undefined
}

const question = signal<Question | undefined>(undefined)

/** Opens the dialog. */
export function askFirst(asked: Question): void {
  question.value = asked
}

export function Dialog() {
  const element = useRef<HTMLDialogElement>(null)
  const asked = question.value
  useEffect(() => {
    if (asked !== undefined) element.current?.showModal()
    else element.current?.close()
  }, [asked])
  return (
    <dialog
      ref={element}
      aria-labelledby="question"
      onClose={() => {
        question.value = undefined
      }}
    >
      {asked !== undefined && <Form key={asked.title} asked={asked} />}
    </dialog>
  )
}

function Form({ asked }: { readonly asked: Question }) {
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const close = (): void => {
    question.value = undefined
  }
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const names = (asked.fields ?? []).map(({ name }) => name)
    const values = Object.fromEntries(names.map((name) => [name, fieldOf(event.target, name)]))
    setBusy(true)
    try {
      const done = await asked.act(values)
      close()
      toast(done.said, done)
    } catch (error) {
      setProblem((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <h2 id="question">{asked.title}</h2>
      <p>{asked.effect}</p>
      {asked.fields?.map(({ name, label, value, hint }) => (
        <label key={name}>
          {label}
          <input name={name} defaultValue={value} autocomplete="off" />
          {hint !== undefined && <small>{hint}</small>}
        </label>
      ))}
      {problem !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="buttons">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" class={asked.isDangerous ? 'danger' : 'primary'} disabled={isBusy}>
          {asked.button}
        </button>
      </div>
    </form>
  )
}
