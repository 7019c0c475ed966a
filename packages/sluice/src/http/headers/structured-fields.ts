// Writes the few parts of structured fields (RFC 9651) that the RateLimit fields need.

/** The largest integer that a structured field can hold. */
const LARGEST = 999_999_999_999_999

/** A String item. What a header cannot carry becomes `?`, so that no name can end the line or the quotes. */
export function stringItem(text: string): string {
  return `"${text.replaceAll(/[^ -~]/g, '?').replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

/** An Integer item, 0 or more. */
export function integerItem(value: number): number {
  return value < LARGEST ? Math.max(0, Math.floor(value)) : LARGEST
}

/** Milliseconds as whole seconds, rounded up. */
export function secondsItem(millis: number): number {
  return integerItem(Math.ceil(millis / 1000))
}
