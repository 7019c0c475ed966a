// A chart over time, drawn by uPlot; the same numbers stand in a table for those who do not see it.
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { clock, count, span } from '../words.ts'

/** One line of a chart. The colour is the name of a CSS property. */
export interface Line {
  readonly label: string
  readonly colour: string
  readonly values: readonly (number | null)[]
  readonly filled?: boolean
}

/** A moment that is marked on the time axis. */
export interface Mark {
  readonly t: number
  readonly label: string
}

interface ChartProps {
  readonly title: string
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly marks?: readonly Mark[]
  readonly unit?: 'count' | 'ms'
  readonly log?: boolean
  readonly height?: number
}

/** The value of a CSS colour property now. */
export function colourOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

export function Chart(props: ChartProps) {
  const { title, times, lines, marks = [], unit = 'count', log = false, height = 200 } = props
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const current = useRef(marks)
  current.current = marks
  /** The place under the pointer; the newest without one. */
  const [pointed, setPointed] = useState<number>()
  const labels = lines.map(({ label }) => label).join('|')

  useEffect(() => {
    const make = (): void => {
      plot.current?.destroy()
      plot.current = new uPlot(
        optionsOf(props, place.current!.clientWidth, () => current.current, setPointed),
        dataOf(times, lines, log),
        place.current!,
      )
    }
    make()
    const resized = new ResizeObserver(() => {
      const width = place.current?.clientWidth ?? 0
      if (width > 0) plot.current?.setSize({ width, height })
    })
    resized.observe(place.current!)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', make)
    return () => {
      resized.disconnect()
      scheme.removeEventListener('change', make)
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [labels, log, height])

  useEffect(() => {
    plot.current?.setData(dataOf(times, lines, log))
  }, [times, lines])

  const at = pointed !== undefined && pointed < times.length ? pointed : times.length - 1
  const say = (value: number | null): string =>
    value === null ? '–' : unit === 'ms' ? span(value) : count(value)
  return (
    <figure class="chart" aria-label={title}>
      <ul class="legend">
        {lines.map(({ label, colour, values }) => (
          <li key={label}>
            <i style={{ background: `var(${colour})` }} />
            {label} <b>{say(values[at] ?? null)}</b>
          </li>
        ))}
        {pointed !== undefined && times[at] !== undefined && (
          <li class="at">{clock(times[at] * 1000)}</li>
        )}
      </ul>
      <div ref={place} class="plot" style={{ height: `${height}px` }} aria-hidden="true">
        {times.length < 2 && <p class="waiting">Waiting for the first seconds…</p>}
      </div>
      <TableOf title={title} times={times} lines={lines} say={say} />
    </figure>
  )
}

function TableOf({
  title,
  times,
  lines,
  say,
}: Pick<ChartProps, 'title' | 'times' | 'lines'> & {
  readonly say: (value: number | null) => string
}) {
  const rows = times.length === 0 ? [] : [...times.keys()].filter((i) => i % 30 === 0).slice(-20)
  return (
    <details class="as-table">
      <summary>As a table</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label={`${title}, as a table`}>
        <table>
          <caption>{title}, every 30 seconds</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {lines.map(({ label }) => (
                <th scope="col" key={label}>
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((i) => (
              <tr key={i}>
                <th scope="row">{clock(times[i]! * 1000)}</th>
                {lines.map(({ label, values }) => (
                  <td key={label}>{say(values[i] ?? null)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}

function dataOf(times: readonly number[], lines: readonly Line[], log: boolean): uPlot.AlignedData {
  // A logarithmic axis has no place for 0.
  const placed = (value: number | null): number | null => (log && value === 0 ? null : value)
  return [
    [...times],
    ...lines.map(({ values }) => values.map(placed)),
  ] as unknown as uPlot.AlignedData
}

function optionsOf(
  { lines, unit = 'count', log = false, height = 200 }: ChartProps,
  width: number,
  marks: () => readonly Mark[],
  onPoint: (place: number | undefined) => void,
): uPlot.Options {
  const text = colourOf('--muted')
  const grid = { stroke: colourOf('--line'), width: 1 }
  const font = '12px system-ui, sans-serif'
  return {
    width: Math.max(width, 100),
    height,
    legend: { show: false },
    // Room for the last time below the axis.
    padding: [10, 30, 0, 0],
    // One pointer on all charts of a page.
    cursor: {
      points: { size: 7 },
      drag: { x: false, y: false },
      sync: { key: 'console', setSeries: false },
    },
    scales: {
      x: { time: true },
      y: log
        ? { distr: 3, range: (_, __, max) => [1, Math.max(10, max ?? 10)] }
        : { range: (_, __, max) => [0, Math.max(1, (max ?? 1) * 1.08)] },
    },
    axes: [
      {
        stroke: text,
        font,
        grid: { show: false },
        ticks: { show: false },
        size: 30,
        gap: 6,
        values: (_, values) => values.map((value) => clock(value * 1000).slice(0, 8)),
        space: 90,
      },
      {
        stroke: text,
        font,
        grid,
        ticks: { show: false },
        size: 52,
        gap: 8,
        values: (_, values) =>
          values.map((value) => (value === null ? '' : unit === 'ms' ? span(value) : count(value))),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, colour, filled = false }) => ({
        label,
        stroke: colourOf(colour),
        width: 1.75,
        points: { show: false },
        spanGaps: true,
        ...(filled && { fill: (plot: uPlot) => fadeOf(plot, colourOf(colour)) }),
      })),
    ],
    hooks: {
      draw: [(plot) => drawMarks(plot, marks())],
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)],
    },
  }
}

/** The area below a line: its colour, fading towards the axis. */
function fadeOf({ ctx, bbox }: uPlot, colour: string): CanvasGradient | string {
  if (!Number.isFinite(bbox.top + bbox.height)) return 'transparent'
  const fade = ctx.createLinearGradient(0, bbox.top, 0, bbox.top + bbox.height)
  fade.addColorStop(0, `${colour}47`)
  fade.addColorStop(1, `${colour}0d`)
  return fade
}

function drawMarks(plot: uPlot, marks: readonly Mark[]): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.strokeStyle = colourOf('--accent')
  ctx.fillStyle = colourOf('--muted')
  ctx.setLineDash([4, 4])
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`
  for (const { t, label } of marks) {
    const x = plot.valToPos(t, 'x', true)
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    ctx.fillText(label, x + 4, bbox.top + 11 * devicePixelRatio)
  }
  ctx.restore()
}
