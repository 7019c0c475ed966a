// Text for a terminal: numbers for people, columns of one width, nothing that could steer the terminal.
import { visible } from '@sluice/server'

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u

/** The columns that a character takes. */
function widthOf(character: string): number {
  if (/^\p{M}/u.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

/** The text in exactly so many columns, cut with … or padded with spaces, after it or before it. */
export function fitted(text: string, columns: number, side: 'left' | 'right' = 'left'): string {
  let shown = ''
  let width = 0
  const characters = Array.from(visible(text, 1000))
  const fullWidth = characters.reduce((sum, one) => sum + widthOf(one), 0)
  const room = fullWidth > columns ? columns - 1 : columns
  for (const one of characters) {
    if (width + widthOf(one) > room) break
    shown += one
    width += widthOf(one)
  }
  if (fullWidth > columns && columns > 0) {
    shown += '…'
    width += 1
  }
  const space = ' '.repeat(Math.max(0, columns - width))
  return side === 'left' ? shown + space : space + shown
}

/** A rate: whole when it is large, with one digit when it is small. */
export function rateText(rate: number): string {
  if (rate === 0) return '0'
  if (rate < 10) return rate.toFixed(1)
  return Math.round(rate).toLocaleString('en')
}

/** Milliseconds with two digits that matter. */
export function millisText(millis: number | null): string {
  if (millis === null) return '-'
  return `${millis < 10 ? millis.toPrecision(2) : Math.round(millis)} ms`
}

/** Such as 4.5%. */
export function shareText(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)}%`
}
