// Estimates how many user agents each client has: many at one address mean many people behind it.
import type { ByteParser, LogParser } from '../logs/parser.ts'
import { grown } from './columns.ts'

/** The largest number that 32 bits can estimate. */
const BITS = 32
/** Lines of a client that are all looked at. */
const MAX_LOOKS = 64

/** One bit for each hash of a user agent; the share of bits that are set estimates their number. */
export class AgentSketch {
  private bits = new Uint32Array(1024)
  private looks = new Uint8Array(1024)
  private lines = 0

  /** Looks at the first lines of each client, and then at some: the agents of busy clients come again. */
  add(client: number, parser: LogParser, bytes: Uint8Array): void {
    this.lines++
    if (client >= this.bits.length) {
      this.bits = grown(this.bits, client + 1)
      this.looks = grown(this.looks, client + 1)
    }
    if (this.looks[client]! < MAX_LOOKS) this.looks[client]!++
    else if ((this.lines & 7) !== 0) return
    const hash =
      'locate' in parser
        ? hashOfBytes(parser as ByteParser, bytes)
        : hashOf(parser.value('userAgent'))
    if (hash !== 0) this.bits[client]! |= 1 << (hash & 31)
  }

  /** About how many user agents a client has had, up to a hundred. */
  of(client: number): number {
    let bits = this.bits[client] ?? 0
    let set = 0
    for (; bits !== 0; bits &= bits - 1) set++
    return Math.round(-BITS * Math.log(1 - Math.min(set, BITS - 1) / BITS))
  }
}

/** Of every other byte: agents differ in more than one place. */
function hashOfBytes(parser: ByteParser, bytes: Uint8Array): number {
  if (!parser.locate('userAgent')) return 0
  const { from, to } = parser
  let hash = to - from
  for (let i = from; i < to; i += 2) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193)
  return mixed(hash)
}

function hashOf(agent: string | undefined): number {
  if (agent === undefined) return 0
  let hash = agent.length
  for (let i = 0; i < agent.length; i += 2) hash = Math.imul(hash ^ agent.charCodeAt(i), 0x01000193)
  return mixed(hash)
}

/** The low bits of a product depend on the low bits alone. */
function mixed(hash: number): number {
  return (hash ^ (hash >>> 15) ^ (hash >>> 7)) | 0 || 1
}
