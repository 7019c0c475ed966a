// The curve from a limit to the share of requests, and of clients, that it refuses, for each algorithm.
import type { Curve, CurvePoint } from '../replay/curve.ts'
import { algorithmName, count, percent, period } from '../terminal/words.ts'
import { colourOf } from './shown.ts'
import { logarithmic, shares } from './scale.ts'
import { axes, edges, tooltipArea, path, svgDocument, round, type Frame } from './svg.ts'
import { largest } from '../terminal/long-lists.ts'

const frame: Frame = { width: 512, height: 320, left: 56, right: 16, top: 32, bottom: 44 }

/** Algorithms whose curves are the same in every point: drawn once, named together. */
export interface CurveGroup {
  readonly names: readonly string[]
  readonly points: readonly CurvePoint[]
}

/** The curves that differ. */
export function groupsOf({ algorithms }: Curve): readonly CurveGroup[] {
  const groups = new Map<string, { names: string[]; points: readonly CurvePoint[] }>()
  for (const { algorithm, points } of algorithms) {
    const id = JSON.stringify(points)
    const group = groups.get(id) ?? { names: [], points }
    groups.set(id, group)
    group.names.push(algorithmName(algorithm))
  }
  return [...groups.values()]
}

/** The chart of one share. */
export function curveChart(
  curve: Curve,
  share: 'refusedShare' | 'clientShare',
  quotas: readonly number[],
): string {
  const { x: xs, y: ys } = edges(frame)
  const all = curve.algorithms.flatMap(({ points }) => points)
  const highest = largest(
    all.map(({ quota }) => quota),
    2,
  )
  const x = logarithmic(1, highest, xs)
  const y = shares(
    largest(
      all.map((point) => point[share]),
      0,
    ),
    ys,
  )
  const groups = groupsOf(curve)
  const lines = groups.map(({ points }, i) => {
    const place = (point: CurvePoint): readonly [number, number] => [
      x(point.quota),
      y(point[share]),
    ]
    return `<path class="line" style="stroke:${colourOf(i)}" d="${path(points.map(place))}"/>`
  })
  const marks = quotas
    .filter((quota) => quota <= highest)
    .map(
      (quota) =>
        `<line class="tried" x1="${round(x(quota))}" x2="${round(x(quota))}" y1="${ys[0]}" y2="${ys[1]}"/>`,
    )
  const first = groups[0]?.points ?? []
  const hits = first.map(({ quota }, i) => {
    const left = i === 0 ? xs[0] : (x(first[i - 1]!.quota) + x(quota)) / 2
    const right = i === first.length - 1 ? xs[1] : (x(first[i + 1]!.quota) + x(quota)) / 2
    const values = groups.map(({ names, points }) => {
      const point = points.find((one) => one.quota === quota)
      return `${names.join(', ')}: ${point === undefined ? '-' : percent(point[share])}`
    })
    return tooltipArea(
      left,
      right - left,
      frame,
      [`${count(quota)}/${period(curve.window)}`, ...values].join('\n'),
    )
  })
  const what = share === 'refusedShare' ? 'requests refused' : 'clients refused at least once'
  return svgDocument(
    frame,
    `Share of ${what}, by limit`,
    [
      axes(
        frame,
        { scale: x, label: count, title: `limit, per ${period(curve.window)}` },
        { scale: y, label: (value) => `${round(value * 1000) / 10}%`, title: `share of ${what}` },
      ),
      ...marks,
      ...lines,
      ...hits,
    ].join(''),
  )
}
