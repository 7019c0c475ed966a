// How many different keys there were, in 4 kB however many they are; keys that several processes have seen count once.

/** 2^12 registers: a standard error of 1.04 / √4096 = 1.6 %. */
const BITS = 12
const REGISTERS = 1 << BITS
/** The standard error of an estimate, as a share of it. */
export const DISTINCT_ERROR: number = 1.04 / Math.sqrt(REGISTERS)
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS)

/** HyperLogLog (Flajolet et al., 2007) over 32-bit hashes, with linear counting for few keys. */
export class HyperLogLog {
  readonly registers: Uint8Array

  constructor(registers: Uint8Array = new Uint8Array(REGISTERS)) {
    this.registers = registers
  }

  /** Adds a key by its hash. */
  add(hash: number): void {
    const register = hash >>> (32 - BITS)
    // The bit below the last one ends the run of zeros, so a rank is 21 at most.
    const rank = Math.clz32((hash << BITS) | (1 << (BITS - 1))) + 1
    if (rank > this.registers[register]!) this.registers[register] = rank
  }

  /** Adds what another one has seen. */
  merge(other: HyperLogLog): void {
    for (let i = 0; i < REGISTERS; i++)
      if (other.registers[i]! > this.registers[i]!) this.registers[i] = other.registers[i]!
  }

  /** The estimated number of different keys. */
  get size(): number {
    let sum = 0
    let empty = 0
    for (const rank of this.registers) {
      sum += 2 ** -rank
      if (rank === 0) empty += 1
    }
    const estimate = (ALPHA * REGISTERS * REGISTERS) / sum
    if (estimate <= 2.5 * REGISTERS && empty > 0)
      return Math.round(REGISTERS * Math.log(REGISTERS / empty))
    // Hashes of 32 bits begin to collide.
    const range = 2 ** 32
    return Math.round(estimate > range / 30 ? -range * Math.log(1 - estimate / range) : estimate)
  }

  /** The registers as text, to be merged elsewhere; '' when nothing was seen. */
  toText(): string {
    if (this.registers.every((rank) => rank === 0)) return ''
    return Buffer.from(this.registers).toString('base64')
  }

  /** Reads the text; anything else counts as nothing seen. */
  static fromText(text: unknown): HyperLogLog {
    const bytes = typeof text === 'string' ? Buffer.from(text, 'base64') : Buffer.alloc(0)
    return new HyperLogLog(bytes.length === REGISTERS ? new Uint8Array(bytes) : undefined)
  }
}

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
