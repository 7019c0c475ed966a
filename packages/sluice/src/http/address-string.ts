// Addresses as strings in keys: masked, canonical, the same for every spelling.
import { holds, type AddressBytes, type Network } from '../policy/network.ts'

/**
 * The IPv4 address that an IPv6 address carries: NAT64 (64:ff9b::/96, RFC 6052) and 6to4 (2002::/16, RFC 3056), which
 * gives one IPv4 host a whole /48. Undefined when there is none, or none that the internet routes: neither form may
 * carry a private address, and a condition on private networks must not hold for it.
 */
export function embeddedIpv4(bytes: AddressBytes): AddressBytes | undefined {
  if (bytes.length !== 16) return undefined
  const ipv4 = isNat64(bytes) ? bytes.slice(12) : is6to4(bytes) ? bytes.slice(2, 6) : undefined
  return ipv4 === undefined || NON_ROUTABLE.some((network) => holds(network, ipv4))
    ? undefined
    : ipv4
}

const NON_ROUTABLE: readonly Network[] = [
  { bytes: [0, 0, 0, 0], bits: 8 },
  { bytes: [10, 0, 0, 0], bits: 8 },
  { bytes: [127, 0, 0, 0], bits: 8 },
  { bytes: [169, 254, 0, 0], bits: 16 },
  { bytes: [172, 16, 0, 0], bits: 12 },
  { bytes: [192, 168, 0, 0], bits: 16 },
]

function isNat64(bytes: AddressBytes): boolean {
  if (bytes[0] !== 0 || bytes[1] !== 0x64 || bytes[2] !== 0xff || bytes[3] !== 0x9b) return false
  for (let i = 4; i < 12; i++) if (bytes[i] !== 0) return false
  return true
}

function is6to4(bytes: AddressBytes): boolean {
  return bytes[0] === 0x20 && bytes[1] === 0x02
}

/** The first address of the network that the address is in, as a string that conditions on networks can read. */
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
