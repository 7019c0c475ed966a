// The one time by which the lab and its pods note what happened.

/** Milliseconds by the machine's monotonic clock: the same in every process, and it cannot be set. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
