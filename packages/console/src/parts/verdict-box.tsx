// A sentence in a coloured box, with a sign for those who do not see colours.
import type { ComponentChildren } from 'preact'

/** How things are. */
export type State = 'good' | 'warn' | 'bad'

const SIGNS: Readonly<Record<State, string>> = { good: '✓', warn: '!', bad: '×' }

export function VerdictBox({
  state,
  name,
  children,
}: {
  readonly state: State
  readonly name: string
  readonly children: ComponentChildren
}) {
  return (
    <section class={`verdict ${state}`} aria-label={name}>
      <span class="state" aria-hidden="true">
        {SIGNS[state]}
      </span>
      {children}
    </section>
  )
}
