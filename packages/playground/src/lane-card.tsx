// One algorithm: its numbers, its picture, and its state at the instant that is looked at.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { Lane } from './compute.ts'
import { coloursOf, LANE_HEIGHT, paint, stepAt } from './paint.ts'
import { setNumber, settings, shown } from './state.ts'
import { ALGORITHM_TEXT, algorithmName, count, percent, time } from './words.ts'

export function LaneCard(props: { readonly lane: Lane; readonly highest: number }): JSX.Element {
  const { lane, highest } = props
  const { at } = settings.value
  const { lasts } = shown.value
  const canvas = useRef<HTMLCanvasElement>(null)
  const [size, setSize] = useState(0)
  useEffect(() => {
    const redraw = (): void => setSize((before) => before + 1)
    const observer = new ResizeObserver(redraw)
    observer.observe(canvas.current!)
    const theme = matchMedia('(prefers-color-scheme: dark)')
    theme.addEventListener('change', redraw)
    return () => {
      observer.disconnect()
      theme.removeEventListener('change', redraw)
    }
  }, [])
  useEffect(() => {
    const element = canvas.current!
    const { clientWidth: width } = element
    const ratio = devicePixelRatio
    element.width = Math.round(width * ratio)
    element.height = Math.round(LANE_HEIGHT * ratio)
    const context = element.getContext('2d')!
    context.scale(ratio, ratio)
    paint(context, width, lane, { lasts, highest, at, colours: coloursOf(element) })
  }, [lane, highest, at, lasts, size])
  const onPointer = (event: PointerEvent): void => {
    if (event.type === 'pointerdown') canvas.current!.setPointerCapture(event.pointerId)
    if (event.buttons === 0) return
    const { left, width } = canvas.current!.getBoundingClientRect()
    setNumber('at', (1000 * (event.clientX - left)) / width)
  }
  const step = stepAt(at)
  const { steps, limit } = lane
  const left = Math.round(steps.level[step]! * limit.burst)
  const name = algorithmName(lane.algorithm)
  return (
    <section class="lane" data-algorithm={lane.algorithm}>
      <header>
        <h2>{name}</h2>
        <p class="hint">{ALGORITHM_TEXT[lane.algorithm]}</p>
      </header>
      <p class="numbers">
        <b class="allowed">{percent(lane.allowed / Math.max(1, lane.requests))}</b> allowed
        <b class="refused">{percent(lane.refused / Math.max(1, lane.requests))}</b> refused
        {lane.delayed > 0 && (
          <>
            <b class="delayed">{percent(lane.delayed / Math.max(1, lane.requests))}</b> held, up to{' '}
            {time(lane.longestDelay)}
          </>
        )}
      </p>
      <canvas
        ref={canvas}
        style={{ height: `${LANE_HEIGHT}px` }}
        role="img"
        aria-label={`${name}: ${count(lane.allowed)} of ${count(lane.requests)} requests allowed, ${count(lane.refused)} refused, over ${time(lasts)}`}
        onPointerDown={onPointer}
        onPointerMove={onPointer}
      />
      <p class="now">
        <span>{count(steps.allowed[step]!)} allowed</span>
        {lane.delayed > 0 && <span>{count(steps.delayed[step]!)} held</span>}
        <span>{count(steps.refused[step]!)} refused</span>
        <span>
          {count(left)} of {count(limit.burst)} left
        </span>
      </p>
    </section>
  )
}
