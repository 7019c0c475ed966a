// Random numbers that a seed repeats: numbers, gaps of random arrivals, and ranks by Zipf's law.

/** A source of chance. The same seed gives the same numbers everywhere. */
export class Random {
  private state: number

  constructor(seed: number) {
    // Neighbouring seeds must not begin alike.
    this.state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0
    for (let i = 0; i < 4; i++) this.next()
  }

  /** From 0 to 1, without 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = this.state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 0 to `count` − 1. */
  below(count: number): number {
    return Math.floor(this.next() * count)
  }

  /** The time to the next of independent arrivals, `mean` apart on average. */
  gap(mean: number): number {
    return -Math.log(1 - this.next()) * mean
  }

  /** Another source, which this one seeds. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32))
  }
}

/**
 * Draws ranks from 0 to `count` − 1 by Zipf's law: rank r is drawn as often as 1 ÷ (r + 1)^exponent says. An exponent
 * of 0 makes all ranks equal. Works for any number of ranks (rejection-inversion by Hörmann and Derflinger).
 */
export function zipfRanks(count: number, exponent: number, random: Random): () => number {
  if (count === 1) return () => 0
  if (exponent === 0) return () => random.below(count)
  const s = exponent
  const integral = (x: number): number => {
    const log = Math.log(x)
    return expm1Over((1 - s) * log) * log
  }
  const inverse = (x: number): number => Math.exp(log1pOver(Math.max(-1, x * (1 - s))) * x)
  const weight = (x: number): number => Math.exp(-s * Math.log(x))
  const lowest = integral(1.5) - 1
  const highest = integral(count + 0.5)
  const shortcut = 2 - inverse(integral(2.5) - weight(2))
  return () => {
    for (;;) {
      const drawn = highest + random.next() * (lowest - highest)
      const x = inverse(drawn)
      const rank = Math.min(count, Math.max(1, Math.round(x)))
      if (rank - x <= shortcut || drawn >= integral(rank + 0.5) - weight(rank)) return rank - 1
    }
  }
}

/** (e^x − 1) ÷ x, exact near 0. */
function expm1Over(x: number): number {
  return Math.abs(x) > 1e-8 ? Math.expm1(x) / x : 1 + x / 2
}

/** log(1 + x) ÷ x, exact near 0. */
function log1pOver(x: number): number {
  return Math.abs(x) > 1e-8 ? Math.log1p(x) / x : 1 - x / 2
}
