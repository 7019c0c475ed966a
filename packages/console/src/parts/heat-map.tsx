// How full the counts are over time: a column for each few seconds, a row for each tenth of the quota.
import { useEffect, useRef } from 'preact/hooks'
import { marksOf } from '../marks.ts'
import type { Tick } from '../types.ts'
import { percent } from '../words.ts'
import { colourOf } from './chart.tsx'
import { Times } from './times.tsx'

/** Seconds in one column. */
const COLUMN = 5
const HEIGHT = 176
/** Rows from the bottom that are drawn in the colour of refusals. */
const LOW_ROWS = 2

export function HeatMap({ ticks }: { readonly ticks: readonly Tick[] }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const columns = columnsOf(ticks)
  useEffect(() => draw(canvas.current!, columns, placesOfMarks(ticks)))
  const totals = columns.reduce<readonly number[]>(
    (sums, column) => column.map((value, i) => value + (sums[i] ?? 0)),
    [],
  )
  const all = totals.reduce((sum, value) => sum + value, 0)
  return (
    <figure class="heat" aria-label="How much of the quota was left when requests were decided">
      <div class="heat-body">
        <div class="heat-axis" aria-hidden="true">
          <span>full</span>
          <span>half</span>
          <span>empty</span>
        </div>
        <canvas ref={canvas} style={{ height: `${HEIGHT}px` }} aria-hidden="true" />
        <Times ticks={ticks} />
      </div>
      <figcaption>
        {all === 0
          ? 'No decision yet.'
          : `${percent(totals[0] ?? 0, all)} of decisions left a count empty or nearly so.`}
      </figcaption>
    </figure>
  )
}

function columnsOf(ticks: readonly Tick[]): readonly (readonly number[])[] {
  const columns: number[][] = []
  for (let i = 0; i < ticks.length; i += COLUMN) {
    const sums: number[] = []
    for (const { levels } of ticks.slice(i, i + COLUMN))
      for (const [step, value] of levels.entries()) sums[step] = (sums[step] ?? 0) + value
    columns.push(sums)
  }
  return columns
}

/** Where reloads and losses of the store lie, as shares of the width. */
function placesOfMarks(ticks: readonly Tick[]): readonly number[] {
  const seconds = new Map(ticks.map(({ t }, i) => [t / 1000, i]))
  return marksOf(ticks).map(({ t }) => (seconds.get(t) ?? 0) / Math.max(1, ticks.length))
}

function draw(
  canvas: HTMLCanvasElement,
  columns: readonly (readonly number[])[],
  marks: readonly number[],
): void {
  const width = canvas.clientWidth * devicePixelRatio
  const height = HEIGHT * devicePixelRatio
  canvas.width = width
  canvas.height = height
  const context = canvas.getContext('2d')!
  const rows = Math.max(1, ...columns.map((column) => column.length))
  const most = Math.max(1, ...columns.map((column) => Math.max(0, ...column)))
  const cell = [width / Math.max(columns.length, 1), height / rows] as const
  const colours = [colourOf('--refused'), colourOf('--allowed')] as const
  for (const [x, column] of columns.entries()) {
    for (const [y, value] of column.entries()) {
      if (value === 0) continue
      context.fillStyle = colours[y < LOW_ROWS ? 0 : 1]
      // By the logarithm, so that a few requests at the edge are seen beside many.
      context.globalAlpha = 0.12 + 0.88 * (Math.log1p(value) / Math.log1p(most))
      context.fillRect(x * cell[0], height - (y + 1) * cell[1], cell[0] - 0.5, cell[1] - 1)
    }
  }
  context.globalAlpha = 1
  context.strokeStyle = colourOf('--accent')
  context.lineWidth = devicePixelRatio
  context.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio])
  for (const place of marks) {
    context.beginPath()
    context.moveTo(place * width, 0)
    context.lineTo(place * width, height)
    context.stroke()
  }
}
