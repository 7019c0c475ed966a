// Things that several processes may have seen alike: counted once, however many of them have seen it.
import { HyperLogLog } from './hyper-log-log.ts'

/** The registers of a {@link HyperLogLog}, or the hashes of a few members. */
export type Members = Uint8Array | readonly number[]

/** How many different members there are; estimated where one of the parts is a sketch. */
export function sizeOfUnion(parts: readonly Members[]): number {
  const hashes = new Set<number>()
  let sketch: HyperLogLog | undefined
  for (const part of parts)
    if (part instanceof Uint8Array) (sketch ??= new HyperLogLog()).merge(new HyperLogLog(part))
    else for (const hash of part) hashes.add(hash)
  if (sketch === undefined) return hashes.size
  for (const hash of hashes) sketch.add(hash)
  return sketch.size
}
