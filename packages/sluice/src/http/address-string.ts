// Addresses as texts that stand in keys: masked, canonical, the same for every spelling.
import { parseAddress, type AddressBytes } from '../policy/network.ts'

/** The address behind a text, with IPv4 taken out of what carries it. Undefined when the text is no address. */
export function addressBytes(text: string): AddressBytes | undefined {
  const bytes = parseAddress(text)
  return bytes !== undefined && bytes.length === 16 && isNat64(bytes) ? bytes.slice(12) : bytes
}

/** 64:ff9b::/96 (RFC 6052): the client has an IPv4 address, and is the same client without the translator. */
function isNat64(bytes: AddressBytes): boolean {
  if (bytes[0] !== 0 || bytes[1] !== 0x64 || bytes[2] !== 0xff || bytes[3] !== 0x9b) return false
  for (let i = 4; i < 12; i++) if (bytes[i] !== 0) return false
  return true
}

/** The first address of the network that the address is in, as text; conditions on networks can read it. */
export function networkString(bytes: AddressBytes, ipv4Bits: number, ipv6Bits: number): string {
  const bits = bytes.length === 4 ? ipv4Bits : isAlone(bytes) ? 128 : ipv6Bits
  const masked = bytes.map((byte, i) => byte & mask(bits - 8 * i))
  return masked.length === 4 ? masked.join('.') : ipv6Text(masked)
}

function mask(bits: number): number {
  return bits >= 8 ? 255 : bits <= 0 ? 0 : 256 - 2 ** (8 - bits)
}

/** Addresses whose neighbours are other hosts, not the same customer: ::1 and fe80::/10. */
function isAlone(bytes: AddressBytes): boolean {
  if (bytes[0] === 0xfe && ((bytes[1] as number) & 0xc0) === 0x80) return true
  for (let i = 0; i < 15; i++) if (bytes[i] !== 0) return false
  return bytes[15] === 1
}

/** RFC 5952: lower case, no leading zeros, the first longest run of zero groups as `::`. */
function ipv6Text(bytes: AddressBytes): string {
  const groups = Array.from(
    { length: 8 },
    (_, i) => (bytes[2 * i] as number) * 256 + (bytes[2 * i + 1] as number),
  )
  let start = 0
  let length = 0
  for (let i = 0; i < 8; i++) {
    let end = i
    while (end < 8 && groups[end] === 0) end++
    if (end - i > length) [start, length] = [i, end - i]
    if (end > i) i = end
  }
  const text = (part: readonly number[]): string =>
    part.map((group) => group.toString(16)).join(':')
  if (length < 2) return text(groups)
  return `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`
}
