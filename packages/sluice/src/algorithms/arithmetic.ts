// Exact division of whole numbers below 2^53. The Lua scripts divide by the same two lines.

/** The smallest whole number not below a / b, for whole a >= 0 and b > 0. */
export function ceilDiv(a: number, b: number): number {
  const quotient = Math.floor(a / b)
  // The quotient may have been rounded up to the next whole number; the rest is exact and shows that.
  return a - quotient * b > 0 ? quotient + 1 : quotient
}

/** The largest whole number not above a / b, for whole a >= 0 and b > 0. */
export function floorDiv(a: number, b: number): number {
  const quotient = Math.floor(a / b)
  return a - quotient * b < 0 ? quotient - 1 : quotient
}
