// Every client's peak, from the calmest to the busiest, with each candidate as a line across.
import type { PeakSummary } from '../replay/result.ts'
import { count, percent, period, span } from '../terminal/words.ts'
import { colourOf, type Shown } from './shown.ts'
import { logarithmic, quantiles } from './scale.ts'
import { axes, edges, escaped, tooltipArea, svgDocument, round, steps, type Frame } from './svg.ts'
import { largest } from '../terminal/long-lists.ts'

const frame: Frame = { width: 1040, height: 340, left: 64, right: 16, top: 32, bottom: 44 }

/** The chart of one window; candidates with another window are not in it. */
export function peaksChart(peaks: PeakSummary, shown: readonly Shown[]): string {
  const lines = shown.filter(({ candidate }) => candidate.limit?.window === peaks.window)
  const total = peaks.distribution.reduce((sum, [, clients]) => sum + clients, 0)
  const { x: xs, y: ys } = edges(frame)
  const highest = largest(
    lines.map(({ candidate }) => candidate.limit!.quota),
    peaks.max,
  )
  const x = quantiles(Math.max(0.9, 1 - 0.5 / Math.max(1, total)), xs)
  const y = logarithmic(1, highest * 1.4, ys)
  let below = 0
  const points: [number, number][] = []
  const hits: string[] = []
  for (const [peak, clients] of peaks.distribution) {
    const from = x(below / total)
    points.push([from, y(peak)])
    below += clients
    const tip = `${count(clients)} clients had a peak of ${count(peak)} within ${span(peaks.window)}\n${percent(below / total)} of clients are at or below it`
    hits.push(tooltipArea(from, x(below / total) - from, frame, tip))
  }
  const limits = lines.map(({ candidate, index }, i) => {
    const place = round(y(candidate.limit!.quota))
    const above = peaks.distribution.reduce(
      (sum, [peak, clients]) => sum + (peak > candidate.limit!.quota ? clients : 0),
      0,
    )
    // Candidates of one limit share their line; only the first is labelled.
    const isFirst = !lines
      .slice(0, i)
      .some((one) => one.candidate.limit!.quota === candidate.limit!.quota)
    const label = isFirst
      ? `<text class="label" x="${xs[0] + 6}" y="${place - 8}">${escaped(`${candidate.limit!.quota}/${period(peaks.window)}: ${percent(above / total)} of clients peak above`)}</text>`
      : ''
    return `<line class="limit" style="stroke:${colourOf(index)}" x1="${xs[0]}" x2="${xs[1]}" y1="${place}" y2="${place}"/>${label}`
  })
  return svgDocument(
    frame,
    `The peak of every client within ${span(peaks.window)}, and the candidates`,
    [
      axes(
        frame,
        {
          scale: x,
          label: (share) => `${round4(share * 100)}%`,
          title: 'share of clients, from the calmest to the busiest',
        },
        {
          scale: y,
          label: count,
          title: `highest number of requests within ${span(peaks.window)}`,
        },
      ),
      `<path class="demand" d="${steps(points, xs[1])}V${ys[0]}H${xs[0]}Z"/>`,
      `<path class="line strong" d="${steps(points, xs[1])}"/>`,
      ...limits,
      ...hits,
    ].join(''),
  )
}

function round4(value: number): number {
  return Math.round(value * 1e4) / 1e4
}
