// Traffic drawn by hand: pull with a finger or mouse, or choose a column and its height with the arrow keys.
import { useRef, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { change, settings } from './state.ts'
import { DRAWN_COLUMNS } from './settings.ts'
import { time } from './words.ts'

const HEIGHT = 100

export function DrawPad(): JSX.Element {
  const [column, setColumn] = useState(0)
  /** The column that the pointer was in before. */
  const last = useRef(0)
  const { drawn, rate, lasts } = settings.value
  /** Sets a column, and those between it and `from`, which a fast pointer skips. */
  const set = (i: number, height: number, from = i): void => {
    const fits = Math.round(Math.min(100, Math.max(0, height)))
    const start = settings.peek().drawn[from]!
    const columns = settings.peek().drawn.map((before, j) => {
      if (j === i) return fits
      const isBetween = (j > from && j < i) || (j < from && j > i)
      return isBetween ? Math.round(start + ((fits - start) * (j - from)) / (i - from)) : before
    })
    change({ drawn: columns })
    setColumn(i)
  }
  const onPointer = (event: PointerEvent): void => {
    const pad = event.currentTarget as SVGSVGElement
    if (event.type === 'pointerdown') pad.setPointerCapture(event.pointerId)
    if (event.buttons === 0) return
    const { left, top, width, height } = pad.getBoundingClientRect()
    const i = Math.floor(((event.clientX - left) / width) * DRAWN_COLUMNS)
    if (i < 0 || i >= DRAWN_COLUMNS) return
    const from = event.type === 'pointerdown' ? i : last.current
    set(i, 100 * (1 - (event.clientY - top) / height), from)
    last.current = i
  }
  const onKey = (event: KeyboardEvent): void => {
    const moves: Record<string, () => void> = {
      ArrowLeft: () => setColumn(Math.max(0, column - 1)),
      ArrowRight: () => setColumn(Math.min(DRAWN_COLUMNS - 1, column + 1)),
      ArrowUp: () => set(column, drawn[column]! + 5),
      ArrowDown: () => set(column, drawn[column]! - 5),
      Home: () => setColumn(0),
      End: () => setColumn(DRAWN_COLUMNS - 1),
    }
    const move = moves[event.key]
    if (move === undefined) return
    event.preventDefault()
    move()
  }
  const perSecond = Number(((drawn[column]! / 50) * rate).toFixed(2))
  const at = time((column * lasts * 1000) / DRAWN_COLUMNS)
  return (
    <div class="pad">
      <svg
        viewBox={`0 0 ${DRAWN_COLUMNS * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        tabindex={0}
        role="slider"
        aria-label="Traffic drawn by hand: left and right choose the time, up and down the rate"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={drawn[column]!}
        aria-valuetext={`at ${at}: ${perSecond} requests per second`}
        onPointerDown={onPointer}
        onPointerMove={onPointer}
        onKeyDown={onKey}
      >
        {drawn.map((height, i) => (
          <rect
            key={i}
            class={i === column ? 'chosen' : ''}
            x={i * 10 + 1}
            width={8}
            y={HEIGHT - height}
            height={Math.max(1, height)}
          />
        ))}
      </svg>
      <p class="hint">
        Draw with the pointer, or with the arrow keys. At {at}: {perSecond}/s.
      </p>
    </div>
  )
}
