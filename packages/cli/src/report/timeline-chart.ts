// Demand over time, and below it what each candidate would have refused of it.
import type { ReplayResult } from '../replay/result.ts'
import { count, instant, span } from '../terminal/words.ts'
import { colourOf, type Shown } from './shown.ts'
import { linear, times } from './scale.ts'
import { axes, edges, tooltipArea, svgDocument, steps, type Frame } from './svg.ts'
import { largest } from '../terminal/long-lists.ts'

const frame: Frame = { width: 1040, height: 300, left: 64, right: 16, top: 32, bottom: 44 }

/** The chart; candidates are drawn in their colours. */
export function timelineChart(result: ReplayResult, shown: readonly Shown[]): string {
  const { start, width, requests } = result.timeline
  const end = start + requests.length * width
  const { x: xs, y: ys } = edges(frame)
  const x = times(start, end, xs)
  const y = linear(largest(requests, 0), ys)
  const outline = (counts: readonly number[]): string =>
    steps(
      counts.map((value, i) => [x(start + i * width), y(value)] as const),
      x(end),
    )
  const demand = `<path class="demand" d="${outline(requests)}V${ys[0]}H${xs[0]}Z"/>`
  const refusals = shown.map(
    ({ candidate, index }) =>
      `<path class="line thin" style="stroke:${colourOf(index)}" d="${outline(candidate.timeline)}"/>`,
  )
  const hits = requests.map((value, i) => {
    const at = start + i * width
    const refused = shown.map(
      ({ candidate }) => `${candidate.name}: ${count(candidate.timeline[i] ?? 0)} refused`,
    )
    const tip = [`${instant(at)} UTC, ${span(width)}`, `${count(value)} requests`, ...refused].join(
      '\n',
    )
    return tooltipArea(x(at), x(at + width) - x(at), frame, tip)
  })
  return svgDocument(
    frame,
    'Requests over time, and those that each candidate would have refused',
    [
      axes(
        frame,
        { scale: x, label: timeLabel(end - start), title: 'time, UTC' },
        { scale: y, label: count, title: `requests in ${span(width)}` },
      ),
      demand,
      ...refusals,
      ...hits,
    ].join(''),
  )
}

/** Days in long logs, times of the day in short ones. */
function timeLabel(length: number): (at: number) => string {
  return (at) => {
    const text = instant(at)
    if (length > 8 * 86_400_000) return text.slice(5, 10)
    const isMidnight = text.slice(11) === '00:00:00'
    if (isMidnight) return text.slice(5, 10)
    return length > 600_000 ? text.slice(11, 16) : text.slice(11)
  }
}
