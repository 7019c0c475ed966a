// Instants as logs write them: from bytes where it is hot, from strings elsewhere.
import type { Millis } from 'sluice'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** Reads `17/May/2015:10:05:03 +0000`. Consecutive lines usually share their minute, which is read once. */
export class ClockStamp {
  private readonly minute = new Uint8Array(17)
  private readonly zone = new Uint8Array(5)
  private base = Number.NaN

  /** The instant that begins at `start`; NaN when there is none. The stamp takes 26 bytes. */
  read(bytes: Uint8Array, start: number): Millis {
    if (start + 26 > bytes.length) return Number.NaN
    if (!this.isSameMinute(bytes, start)) this.base = this.readMinute(bytes, start)
    const seconds = digits(bytes, start + 18, 2)
    if (bytes[start + 17] !== COLON || !(seconds <= 60)) return Number.NaN
    return this.base + seconds * 1000
  }

  private isSameMinute(bytes: Uint8Array, start: number): boolean {
    const { minute, zone } = this
    // From the end, where stamps differ first.
    for (let i = 16; i >= 0; i--) if (bytes[start + i] !== minute[i]) return false
    for (let i = 0; i < 5; i++) if (bytes[start + 21 + i] !== zone[i]) return false
    return true
  }

  private readMinute(bytes: Uint8Array, start: number): Millis {
    this.minute.set(bytes.subarray(start, start + 17))
    this.zone.set(bytes.subarray(start + 21, start + 26))
    // oxlint-disable-next-line sluice/no-spread-arguments -- 26 bytes
    const text = String.fromCharCode(...bytes.subarray(start, start + 26))
    const match = /^(\d\d)\/(\w{3})\/(\d{4}):(\d\d):(\d\d):\d\d ([+-])(\d\d)(\d\d)$/.exec(text)
    if (match === null) return Number.NaN
    const month = MONTHS.indexOf(match[2]!.toLowerCase())
    const [day, year, hour, min, zoneHour, zoneMin] = [1, 3, 4, 5, 7, 8].map((i) =>
      Number(match[i]),
    ) as [number, number, number, number, number, number]
    if (month < 0 || hour > 23 || min > 59 || zoneHour > 14 || zoneMin > 59) return Number.NaN
    const date = new Date(Date.UTC(year, month, day, hour, min))
    // Date.UTC makes 1 March of 30 February.
    if (date.getUTCDate() !== day) return Number.NaN
    const offset = (zoneHour * 60 + zoneMin) * 60_000
    return date.getTime() + (match[6] === '-' ? offset : -offset)
  }
}

/** The instant in any form that a field may have: ISO 8601, the stamp of web servers, or seconds to nanoseconds since 1970. */
export function instantOf(value: unknown): Millis {
  if (typeof value === 'number') return fromEpoch(value)
  if (typeof value !== 'string') return Number.NaN
  const text = value.trim().replace(/^\[|\]$/g, '')
  if (/^\d{9,19}(\.\d+)?$/.test(text)) return fromEpoch(Number(text))
  if (/^\d\d\/\w{3}\/\d{4}:/.test(text))
    return new ClockStamp().read(new TextEncoder().encode(text), 0)
  const iso =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?\s*(Z|[+-]\d\d:?\d\d)?$/i.exec(text)
  if (iso === null) return Number.NaN
  const [, day, time, fraction = '', zone = 'Z'] = iso
  const colon = /^[+-]\d{4}$/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone
  return Date.parse(`${day}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}${colon.toUpperCase()}`)
}

/** Seconds, milliseconds, microseconds or nanoseconds: the one that gives a year between 1973 and 2286. */
function fromEpoch(value: number): Millis {
  if (!(value >= 1e8)) return Number.NaN
  if (value < 1e10) return Math.floor(value * 1000)
  if (value < 1e13) return Math.floor(value)
  return value < 1e16 ? Math.floor(value / 1e3) : Math.floor(value / 1e6)
}

const COLON = 58
const ZERO = 48

/** The number in so many digits; NaN if one of them is not a digit. */
export function digits(bytes: Uint8Array, start: number, count: number): number {
  let number = 0
  for (let i = start; i < start + count; i++) {
    const digit = (bytes[i] as number) - ZERO
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    number = number * 10 + digit
  }
  return number
}
