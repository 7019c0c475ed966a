// Draws one lane: requests over time as bars, what is left as an area below, and the instant that is looked at.
import { COLUMNS, type Lane } from './compute.ts'
import { count, time } from './words.ts'

/** What is drawn besides the lane itself. */
export interface Scene {
  readonly lasts: number
  /** The most requests of any step of any lane: all lanes have one scale. */
  readonly highest: number
  /** From 0 to 1000. */
  readonly at: number
  readonly colours: Colours
}

/** The colours of the page, which depend on the theme. */
export interface Colours {
  readonly allowed: string
  readonly delayed: string
  readonly refused: string
  readonly level: string
  readonly line: string
  readonly muted: string
  readonly text: string
}

/** The room for bars, for the level and for labels, in pixels from the top. */
const BARS = { top: 14, bottom: 112 }
const LEVEL = { top: 124, bottom: 164 }
/** The height of the whole picture. */
export const LANE_HEIGHT = 184

/** The colours of an element. */
export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element)
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim()
  return {
    allowed: colour('allowed'),
    delayed: colour('delayed'),
    refused: colour('refused'),
    level: colour('level'),
    line: colour('line'),
    muted: colour('muted'),
    text: colour('text'),
  }
}

/** Draws a lane into a context of this width, in CSS pixels. */
export function paint(
  context: CanvasRenderingContext2D,
  width: number,
  lane: Lane,
  scene: Scene,
): void {
  const { colours, highest, at } = scene
  context.clearRect(0, 0, width, LANE_HEIGHT)
  context.font = '11px system-ui, sans-serif'
  grid(context, width, scene)
  const column = width / COLUMNS
  const { allowed, delayed, refused, level } = lane.steps
  const height = (value: number): number =>
    (value / Math.max(1, highest)) * (BARS.bottom - BARS.top)
  for (let i = 0; i < COLUMNS; i++) {
    let bottom = BARS.bottom
    for (const [values, colour] of [
      [allowed, colours.allowed],
      [delayed, colours.delayed],
      [refused, colours.refused],
    ] as const) {
      const size = height(values[i]!)
      if (size === 0) continue
      context.fillStyle = colour
      context.fillRect(i * column, bottom - size, Math.max(1, column - 0.6), size)
      bottom -= size
    }
  }
  const room = LEVEL.bottom - LEVEL.top
  context.beginPath()
  context.moveTo(0, LEVEL.bottom)
  for (let i = 0; i < COLUMNS; i++)
    context.lineTo((i + 0.5) * column, LEVEL.bottom - level[i]! * room)
  context.lineTo(width, LEVEL.bottom)
  context.fillStyle = colours.level
  context.globalAlpha = 0.25
  context.fill()
  context.globalAlpha = 1
  context.beginPath()
  for (let i = 0; i < COLUMNS; i++)
    context.lineTo((i + 0.5) * column, LEVEL.bottom - level[i]! * room)
  context.strokeStyle = colours.level
  context.lineWidth = 1.5
  context.stroke()
  const x = (at / 1000) * width
  context.fillStyle = colours.text
  context.fillRect(Math.min(width - 1, x), BARS.top - 6, 1, LEVEL.bottom - BARS.top + 6)
  const step = stepAt(at)
  context.beginPath()
  context.arc(Math.min(width - 4, Math.max(4, x)), LEVEL.bottom - level[step]! * room, 3.5, 0, 7)
  context.fill()
}

function grid(context: CanvasRenderingContext2D, width: number, scene: Scene): void {
  const { colours, highest, lasts } = scene
  context.fillStyle = colours.line
  for (const y of [BARS.bottom, LEVEL.top, LEVEL.bottom]) context.fillRect(0, y, width, 1)
  context.fillStyle = colours.muted
  context.textBaseline = 'alphabetic'
  context.textAlign = 'left'
  context.fillText(`${count(highest)} in ${time(lasts / COLUMNS)}`, 0, 10)
  context.fillText('left', 0, LEVEL.top - 3)
  context.fillText('0', 0, LANE_HEIGHT - 4)
  context.textAlign = 'center'
  context.fillText(time(lasts / 2), width / 2, LANE_HEIGHT - 4)
  context.textAlign = 'right'
  context.fillText(time(lasts), width, LANE_HEIGHT - 4)
}

/** The step of an instant from 0 to 1000. */
export function stepAt(at: number): number {
  return Math.min(COLUMNS - 1, Math.floor((at / 1000) * COLUMNS))
}
