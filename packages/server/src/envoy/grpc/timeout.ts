// The time that a caller gives, as gRPC writes it.
import type { Millis } from 'sluice'
import { StatusError } from './status.ts'

const MILLIS_PER: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
}

/** The milliseconds of a `grpc-timeout` such as `20m`; undefined when there is none. */
export function timeoutOf(header: string | undefined): Millis | undefined {
  if (header === undefined) return undefined
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(header) ?? []
  if (digits === undefined || unit === undefined)
    throw new StatusError('INVALID_ARGUMENT', 'grpc-timeout is not as in 20m')
  return Number(digits) * MILLIS_PER[unit]!
}
