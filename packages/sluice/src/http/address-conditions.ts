// Conditions on addresses that are finer than the networks by which addresses are counted: they hold for all of a network, or for none.
import { holds, parseAddress, type AddressBytes, type Network } from '../policy/network.ts'
import { meaningOf } from '../policy/pattern.ts'
import { networkString } from './address-string.ts'

/**
 * The bits by which addresses are counted.
 *
 * @example
 * ```ts
 * const bits: CountedBits = { ipv4: 32, ipv6: 56 }
 * ```
 */
export interface CountedBits {
  readonly ipv4: number
  readonly ipv6: number
}

/**
 * Why one pattern of a condition on `ip` or `network` does not hold as it is written, for addresses that adapters or
 * proxies name; undefined when it does, and for other attributes.
 *
 * @example
 * ```ts
 * addressProblem('ip', '2001:db8::7', { ipv4: 32, ipv6: 56 }) // 'addresses count by their /56, so …'
 * ```
 */
export function addressProblem(
  attribute: string,
  pattern: unknown,
  { ipv4, ipv6 }: CountedBits,
): string | undefined {
  if (attribute !== 'ip' && attribute !== 'network') return undefined
  const isWide = attribute === 'network'
  const bits = isWide ? { ipv4: Math.min(24, ipv4), ipv6: Math.min(48, ipv6) } : { ipv4, ipv6 }
  const meaning = meaningOf(attribute, pattern)
  if (typeof meaning === 'string') return undefined
  if (meaning.kind === 'network') return networkProblem(meaning.network, bits)
  const address = meaning.kind === 'equals' ? parseAddress(meaning.text) : undefined
  if (meaning.kind !== 'equals' || address === undefined) return undefined
  const text = networkString(address, bits.ipv4, bits.ipv6)
  return text === meaning.text ? undefined : `no request has it: it would be written ${text}`
}

function networkProblem(network: Network, counted: CountedBits): string | undefined {
  const { bytes, bits } = network
  const carrier = CARRIERS.find(({ from }) => bits >= from.bits && holds(from, bytes))
  if (carrier !== undefined)
    return `no request has it: an address of ${carrier.name} counts as the IPv4 address in it`
  const most = bytes.length === 4 ? counted.ipv4 : counted.ipv6
  if (bits <= most || ALONE.some((one) => holds(one, bytes))) return undefined
  const whole = `${networkString(bytes, most, most)}/${most}`
  const isFirst = hasOnlyZeros(bytes, most, bits)
  return `addresses count by their /${most}, so ${isFirst ? `it holds for all of ${whole}` : 'no request has it'}; write ${whole}`
}

/** Networks whose addresses carry an IPv4 address, which is what counts. */
const CARRIERS: readonly { readonly name: string; readonly from: Network }[] = [
  { name: '6to4', from: networkOf([0x20, 0x02], 16) },
  { name: 'NAT64', from: networkOf([0, 0x64, 0xff, 0x9b], 96) },
]

/** Addresses that are counted whole: ::1 and fe80::/10. */
const ALONE: readonly Network[] = [
  networkOf([0xfe, 0x80], 10),
  networkOf([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 128),
]

function networkOf(first: readonly number[], bits: number): Network {
  return { bytes: Array.from({ length: 16 }, (_, i) => first[i] ?? 0), bits }
}

function hasOnlyZeros(bytes: AddressBytes, from: number, to: number): boolean {
  for (let i = from; i < to; i++)
    if (((bytes[i >> 3] as number) >> (7 - (i & 7))) % 2 === 1) return false
  return true
}
