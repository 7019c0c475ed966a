// A text area with numbered lines, on which mistakes are marked at their place.
import { useEffect, useRef } from 'preact/hooks'

/** Lines that are shown without scrolling. */
const MAX_LINES = 28

/** A place in the text, from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

export function Editor({
  name,
  text,
  wrong,
  goTo,
  onInput,
}: {
  readonly name: string
  readonly text: string
  /** Lines with mistakes. */
  readonly wrong: ReadonlySet<number>
  /** Where the caret is put, whenever it is another object. */
  readonly goTo: Place | undefined
  readonly onInput: (text: string) => void
}) {
  const area = useRef<HTMLTextAreaElement>(null)
  const gutter = useRef<HTMLDivElement>(null)
  const lines = text.split('\n').length
  useEffect(() => {
    if (goTo === undefined || area.current === null) return
    const start = text
      .split('\n')
      .slice(0, goTo.line - 1)
      .join('\n').length
    const caret = start + (goTo.line > 1 ? 1 : 0) + goTo.column - 1
    area.current.focus()
    area.current.setSelectionRange(caret, caret)
  }, [goTo])
  return (
    <div class="editor">
      <div
        ref={gutter}
        class="gutter"
        style={{ height: `${Math.min(MAX_LINES, Math.max(8, lines + 1)) * 20 + 18}px` }}
        aria-hidden="true"
      >
        {Array.from({ length: lines }, (_, i) => (
          <span key={i} class={wrong.has(i + 1) ? 'wrong' : ''}>
            {i + 1}
          </span>
        ))}
      </div>
      <textarea
        ref={area}
        aria-label={name}
        aria-invalid={wrong.size > 0}
        spellcheck={false}
        wrap="off"
        value={text}
        onScroll={() => {
          gutter.current!.scrollTop = area.current!.scrollTop
        }}
        onInput={(event) => onInput((event.target as HTMLTextAreaElement).value)}
      />
    </div>
  )
}
