// What a request of Envoy's protocol asks for, read from its bytes without any code of the service.

type Fields = Map<string, (bigint | Buffer)[]>

/** Reads the parts of a message; undefined is what the bytes cannot be. */
class Reader {
  private at = 0
  private readonly message: Buffer

  constructor(message: Buffer) {
    this.message = message
  }

  /** The fields by number and wire type, up to the end of the message, or of the group of that number. */
  fields(group?: bigint): Fields | undefined {
    const fields: Fields = new Map()
    while (this.at < this.message.length) {
      const tag = this.varint()
      if (tag === undefined || tag >> 3n === 0n) return undefined
      const [field, type] = [tag >> 3n, Number(tag & 7n)]
      if (type === 4) return field === group ? fields : undefined
      const value = type === 3 ? this.fields(field) && 0n : this.value(type)
      if (value === undefined) return undefined
      const name = `${field}:${type}`
      fields.set(name, [...(fields.get(name) ?? []), value])
    }
    return group === undefined ? fields : undefined
  }

  private value(type: number): bigint | Buffer | undefined {
    if (type === 0) return this.varint()
    if (type === 1) return this.bytes(8)
    if (type === 5) return this.bytes(4)
    const length = type === 2 ? this.varint() : undefined
    return length === undefined ? undefined : this.bytes(Number(length))
  }

  private varint(): bigint | undefined {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.message[this.at++]
      if (byte === undefined) return undefined
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return BigInt.asUintN(64, value)
    }
    return undefined
  }

  private bytes(length: number): Buffer | undefined {
    if (this.at + length > this.message.length) return undefined
    return this.message.subarray(this.at, (this.at += length))
  }
}

const fieldsOf = (message: Buffer): Fields | undefined => new Reader(message).fields()

/**
 * The units that all descriptors of a request for the domain `api` ask for together; 0 for another domain, `refund` when
 * one of them hands units back.
 */
export function askedBy(message: Buffer): number | 'refund' | 'unreadable' {
  const request = fieldsOf(message)
  if (request === undefined) return 'unreadable'
  const common = Number(BigInt.asUintN(32, (request.get('3:0')?.at(-1) ?? 0n) as bigint)) || 1
  let units = 0
  for (const one of (request.get('2:2') ?? []) as Buffer[]) {
    const descriptor = fieldsOf(one)
    if (descriptor === undefined) return 'unreadable'
    if (((descriptor.get('4:0')?.at(-1) ?? 0n) as bigint) !== 0n) return 'refund'
    const own = descriptor.get('3:2') as Buffer[] | undefined
    // A message that occurs twice is merged, which is the same as its bytes one after the other.
    const wrapped = own === undefined ? undefined : fieldsOf(Buffer.concat(own))
    if (own !== undefined && wrapped === undefined) return 'unreadable'
    units += own === undefined ? common : Number(wrapped!.get('1:0')?.at(-1) ?? 0n)
  }
  return String(request.get('1:2')?.at(-1) ?? '') === 'api' ? units : 0
}
