// Internet addresses and networks, by their bytes: what the conditions on addresses compare.

/** An address: 4 bytes, or 16. An IPv4-mapped IPv6 address is the 4 bytes it maps. */
export type AddressBytes = readonly number[]

/** All addresses of one length that share their first bits. */
export interface Network {
  readonly bytes: AddressBytes
  readonly bits: number
}

/** The address, or undefined when the text is not one. A zone (`fe80::1%eth0`) is left out. */
export function parseAddress(text: string): AddressBytes | undefined {
  // Nothing longer can be an address, and these texts come from outside.
  if (text.length > 128) return undefined
  if (!text.includes(':')) return ipv4Bytes(text)
  const zone = text.indexOf('%')
  if (zone === text.length - 1) return undefined
  const bytes = ipv6Bytes(zone === -1 ? text : text.slice(0, zone))
  return bytes !== undefined && isMapped(bytes) ? bytes.slice(12) : bytes
}

/**
 * The network of `10.0.0.0/8` or `2001:db8::/32`; a bare address is the network of itself. Bits
 * beyond the prefix are ignored; a zone is refused, since it means something on one machine only.
 */
export function parseNetwork(text: string): Network | undefined {
  const slash = text.indexOf('/')
  const address = slash === -1 ? text : text.slice(0, slash)
  const bytes = address.includes('%') ? undefined : unmappedBytes(address)
  if (bytes === undefined) return undefined
  const bits = slash === -1 ? bytes.length * 8 : decimal(text.slice(slash + 1), bytes.length * 8)
  if (bits === undefined) return undefined
  // Within ::ffff:0:0/96 all addresses are IPv4; a wider network holds IPv6 addresses only.
  return bytes.length === 16 && bits >= 96 && isMapped(bytes)
    ? { bytes: bytes.slice(12), bits: bits - 96 }
    : { bytes, bits }
}

/** True when the text is an address of the network; a string that is no address is in none. */
export function inNetwork(network: Network, address: string): boolean {
  const bytes = parseAddress(address)
  return bytes !== undefined && holds(network, bytes)
}

/** True when the address is in the network. */
export function holds({ bytes, bits }: Network, address: AddressBytes): boolean {
  if (address.length !== bytes.length) return false
  const whole = bits >> 3
  for (let i = 0; i < whole; i++) if (address[i] !== bytes[i]) return false
  const rest = 8 - (bits & 7)
  return rest === 8 || (address[whole] as number) >> rest === (bytes[whole] as number) >> rest
}

function unmappedBytes(text: string): AddressBytes | undefined {
  return text.includes(':') ? ipv6Bytes(text) : ipv4Bytes(text)
}

function isMapped(bytes: AddressBytes): boolean {
  for (let i = 0; i < 10; i++) if (bytes[i] !== 0) return false
  return bytes[10] === 255 && bytes[11] === 255
}

function ipv4Bytes(text: string): number[] | undefined {
  const parts = text.split('.')
  if (parts.length !== 4) return undefined
  const bytes: number[] = []
  for (const part of parts) {
    const byte = decimal(part, 255)
    if (byte === undefined) return undefined
    bytes.push(byte)
  }
  return bytes
}

function ipv6Bytes(text: string): number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = groupBytes(halves[0] as string, halves.length === 1)
  if (head === undefined || halves.length === 1) return head?.length === 16 ? head : undefined
  const tail = groupBytes(halves[1] as string, true)
  // The double colon replaces at least one group.
  if (tail === undefined || head.length + tail.length > 14) return undefined
  return [...head, ...Array.from({ length: 16 - head.length - tail.length }, () => 0), ...tail]
}

/** The bytes of groups such as `2001:db8`; only the end of an address may be written as IPv4. */
function groupBytes(text: string, atEnd: boolean): number[] | undefined {
  if (text === '') return []
  const groups = text.split(':')
  const bytes: number[] = []
  for (const [i, group] of groups.entries()) {
    if (atEnd && i === groups.length - 1 && group.includes('.')) {
      const ipv4 = ipv4Bytes(group)
      if (ipv4 === undefined) return undefined
      for (const byte of ipv4) bytes.push(byte)
    } else {
      if (!/^[\da-f]{1,4}$/i.test(group)) return undefined
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 255)
    }
  }
  return bytes
}

/** A decimal without leading zeros: `010` is 8 to some readers and 10 to others. */
function decimal(text: string, most: number): number | undefined {
  if (!/^(?:0|[1-9]\d{0,2})$/.test(text)) return undefined
  const value = Number(text)
  return value <= most ? value : undefined
}
