// Whether reading a text takes time in proportion to its length, by the processor's time.

/** What is repeated in a text, and what stands before and after it. */
export type Shape = readonly [before: string, unit: string, after: string]

/** Sixteen times the length; a quadratic reader needs 256 times the time. */
const [SHORT, LONG] = [4096, 65_536]
/** Microseconds below which a reading says nothing. */
const FLOOR = 2000

/** The least of several runs, in microseconds: other processes do not count. */
function costOf(read: (text: string) => unknown, text: string): number {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < 5; run++) {
    const before = process.cpuUsage()
    for (let i = 0; i < 4; i++) read(text)
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, user + system)
  }
  return least
}

/** How many times longer a text of 64 kB takes than one of 4 kB; linear readers are far below 96. */
export function growthOf(read: (text: string) => unknown, [before, unit, after]: Shape): number {
  const make = (length: number): string =>
    before + unit.repeat(Math.floor(length / unit.length)) + after
  const safely = (text: string): unknown => {
    try {
      return read(text)
    } catch {
      return undefined
    }
  }
  costOf(safely, make(SHORT))
  return costOf(safely, make(LONG)) / Math.max(FLOOR, costOf(safely, make(SHORT)))
}
