// A diff with its lines in colours, and a button that copies it.
import { useState } from 'preact/hooks'

const KINDS: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'place' }

export function Diff({ text, name }: { readonly text: string; readonly name: string }) {
  const [said, setSaid] = useState('Copy')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      setSaid('Select it by hand')
    }
  }
  return (
    <div class="diff">
      <pre tabIndex={0} aria-label={name}>
        {text
          .trimEnd()
          .split('\n')
          .map((line, i) => (
            <span
              key={i}
              class={/^(---|\+\+\+) /.test(line) ? 'place' : (KINDS[line[0] ?? ''] ?? '')}
            >
              {line === '' ? ' ' : line}
            </span>
          ))}
      </pre>
      <button type="button" onClick={() => void copy()} aria-live="polite">
        {said}
      </button>
    </div>
  )
}
