// Pieces of charts as strings of SVG.
import type { Scale } from './scale.ts'

/** The text with everything escaped that HTML would read as markup. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)
}

/** The place of a chart's plot in its picture. */
export interface Frame {
  readonly width: number
  readonly height: number
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** The plot's edges: x from left to right, y from bottom to top. */
export function edges({ width, height, left, right, top, bottom }: Frame): {
  readonly x: readonly [number, number]
  readonly y: readonly [number, number]
} {
  return { x: [left, width - right], y: [height - bottom, top] }
}

/** Grid, labels and titles of both axes. */
export function axes(
  frame: Frame,
  x: { readonly scale: Scale; readonly label: (tick: number) => string; readonly title: string },
  y: { readonly scale: Scale; readonly label: (tick: number) => string; readonly title: string },
): string {
  const { x: xs, y: ys } = edges(frame)
  const rows = y.scale.ticks.map((tick) => {
    const place = round(y.scale(tick))
    return `<line class="grid" x1="${xs[0]}" x2="${xs[1]}" y1="${place}" y2="${place}"/><text class="tick" x="${xs[0] - 8}" y="${place}" text-anchor="end" dominant-baseline="middle">${escaped(y.label(tick))}</text>`
  })
  const columns = x.scale.ticks.map((tick) => {
    const place = round(x.scale(tick))
    return `<line class="mark" x1="${place}" x2="${place}" y1="${ys[0]}" y2="${ys[0] + 5}"/><text class="tick" x="${place}" y="${ys[0] + 18}" text-anchor="middle">${escaped(x.label(tick))}</text>`
  })
  return `${rows.join('')}${columns.join('')}<line class="axis" x1="${xs[0]}" x2="${xs[1]}" y1="${ys[0]}" y2="${ys[0]}"/><text class="title" x="${xs[0]}" y="${frame.top - 12}">${escaped(y.title)}</text><text class="title" x="${xs[1]}" y="${frame.height - 4}" text-anchor="end">${escaped(x.title)}</text>`
}

/** A path through points. */
export function path(points: readonly (readonly [number, number])[]): string {
  return points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('')
}

/** A path of steps: each value holds until the next. */
export function steps(points: readonly (readonly [number, number])[], end: number): string {
  const [first] = points
  if (first === undefined) return ''
  const moves = points.map(([x, y], i) =>
    i === 0 ? `M${round(x)} ${round(y)}` : `H${round(x)}V${round(y)}`,
  )
  return `${moves.join('')}H${round(end)}`
}

/** An area that shows `tip` in a tooltip; lines of the tip are separated by line breaks. */
export function tooltipArea(x: number, width: number, frame: Frame, tip: string): string {
  const { y } = edges(frame)
  return `<rect class="hit" x="${round(x)}" y="${y[1]}" width="${round(Math.max(width, 0.5))}" height="${round(y[0] - y[1])}" data-tip="${escaped(tip)}"/>`
}

/** A whole picture. */
export function svgDocument(frame: Frame, label: string, content: string): string {
  return `<svg viewBox="0 0 ${frame.width} ${frame.height}" role="img" aria-label="${escaped(label)}">${content}</svg>`
}

/** A number with as many digits as a picture needs. */
export function round(value: number): number {
  return Math.round(value * 10) / 10
}
