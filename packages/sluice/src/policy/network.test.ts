import { BlockList, isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inNetwork, parseAddress, parseNetwork } from './network.ts'

const zeros = (count: number): number[] => Array.from({ length: count }, () => 0)

describe('parseAddress', () => {
  it.each<[string, number[]]>([
    ['1.2.3.4', [1, 2, 3, 4]],
    ['0.0.0.0', [0, 0, 0, 0]],
    ['255.255.255.255', [255, 255, 255, 255]],
    ['::', zeros(16)],
    ['::1', [...zeros(15), 1]],
    ['1::', [0, 1, ...zeros(14)]],
    ['2001:DB8::ff', [0x20, 0x01, 0x0d, 0xb8, ...zeros(11), 0xff]],
    ['1:2:3:4:5:6:7:8', [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]],
    ['1:2:3:4:5:6:7::', [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0]],
    ['64:ff9b::1.2.3.4', [0, 0x64, 0xff, 0x9b, ...zeros(8), 1, 2, 3, 4]],
    ['fe80::1%eth0', [0xfe, 0x80, ...zeros(13), 1]],
    ['::ffff:1.2.3.4', [1, 2, 3, 4]],
    ['::FFFF:102:304', [1, 2, 3, 4]],
    ['0:0:0:0:0:ffff:1.2.3.4', [1, 2, 3, 4]],
    // These only resemble a mapped address: they must not count as 1.2.3.4.
    ['1::ffff:1.2.3.4', [0, 1, ...zeros(8), 255, 255, 1, 2, 3, 4]],
    ['::1:ffff:1.2.3.4', [...zeros(9), 1, 255, 255, 1, 2, 3, 4]],
    ['::ff00:1.2.3.4', [...zeros(10), 255, 0, 1, 2, 3, 4]],
    ['::ff:1.2.3.4', [...zeros(11), 255, 1, 2, 3, 4]],
    ['::1.2.3.4', [...zeros(12), 1, 2, 3, 4]],
  ])('reads %s', (text, bytes) => {
    expect(parseAddress(text)).toEqual(bytes)
  })

  it.each([
    '',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '01.2.3.4',
    '0x1.2.3.4',
    '1.2.3.4 ',
    '1.2.3.-4',
    '1.2.3.4%eth0',
    '１.2.3.4',
    ':',
    ':::',
    '1:2',
    ':1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '1:2:3:4::5:6:7:8',
    '1::2::3',
    '12345::',
    'g::',
    '1.2.3.4::',
    '::1.2.3',
    '::1.2.3.4:5',
    'fe80::1%',
    '[::1]',
    '1.2.3.4/32',
    '1'.repeat(1_000_000),
  ])('refuses %.40j', (text) => {
    expect(parseAddress(text)).toBeUndefined()
  })

  it('accepts what Node accepts', () => {
    const part = fc.oneof(
      fc.constantFrom(':', '::', '.', '0', '1.2.3.4', '255', '256', 'ffff', '00', 'x'),
      fc.string({ unit: fc.constantFrom(...'0123456789abcdefF'.split('')), maxLength: 5 }),
    )
    const texts = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.array(part, { maxLength: 16 }).map((p) => p.join('')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseAddress(text) !== undefined).toBe(isIP(text) !== 0)
      }),
      { numRuns: 5000 },
    )
  })
})

describe('parseNetwork', () => {
  it.each<[string, number[], number]>([
    ['10.0.0.0/8', [10, 0, 0, 0], 8],
    ['10.1.2.3/8', [10, 1, 2, 3], 8],
    ['0.0.0.0/0', [0, 0, 0, 0], 0],
    ['1.2.3.4', [1, 2, 3, 4], 32],
    ['::/0', zeros(16), 0],
    ['::1', [...zeros(15), 1], 128],
    ['2001:db8::/32', [0x20, 0x01, 0x0d, 0xb8, ...zeros(12)], 32],
    ['::ffff:10.0.0.0/104', [10, 0, 0, 0], 8],
    ['::ffff:0:0/96', [0, 0, 0, 0], 0],
    ['::ffff:0:0/95', [...zeros(10), 255, 255, ...zeros(4)], 95],
  ])('reads %s', (text, bytes, bits) => {
    expect(parseNetwork(text)).toEqual({ bytes, bits })
  })

  it.each([
    '',
    '/',
    '/8',
    '10/8',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    '010.0.0.0/8',
    '::/129',
    'fe80::%eth0/64',
    'fe80::1%eth0',
    'present',
  ])('refuses %j', (text) => {
    expect(parseNetwork(text)).toBeUndefined()
  })
})

describe('inNetwork', () => {
  const contains = (network: string, address: string): boolean =>
    inNetwork(parseNetwork(network)!, address)

  it.each([
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.0.0.0/9', '10.128.0.0', false],
    ['10.1.2.3/8', '10.9.9.9', true],
    ['0.0.0.0/0', '255.255.255.255', true],
    ['1.2.3.4', '1.2.3.4', true],
    ['1.2.3.4', '1.2.3.5', false],
    ['10.0.0.0/8', '::ffff:10.1.1.1', true],
    ['10.0.0.0/8', '::ffff:0a01:0101', true],
    ['::ffff:10.0.0.0/104', '10.1.1.1', true],
    ['2001:db8::/32', '2001:0DB8:0:0::9', true],
    ['2001:db8::/33', '2001:db8:8000::', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['::1', '0:0:0:0:0:0:0:1', true],
    // Families do not mix, so that "every IPv6 address" does not take in IPv4 clients behind a dual socket.
    ['::/0', '1.2.3.4', false],
    ['::/0', '::ffff:1.2.3.4', false],
    ['0.0.0.0/0', '::1', false],
    ['0.0.0.0/0', 'unknown', false],
    ['0.0.0.0/0', '', false],
    ['0.0.0.0/0', '1.2.3.4:80', false],
  ])('%s, %s: %s', (network, address, expected) => {
    expect(contains(network, address)).toBe(expected)
  })

  /** An address, and one that differs from it by a few bits, so that both answers are common. */
  const near = (length: 4 | 16) =>
    fc
      .tuple(
        fc.uint8Array({ minLength: length, maxLength: length }),
        fc.integer({ min: 0, max: length * 8 }),
        fc.array(fc.integer({ min: 0, max: length * 8 - 1 }), { maxLength: 2 }),
      )
      .map(([bytes, bits, flips]) => {
        const other = Uint8Array.from(bytes)
        for (const flip of flips) other[flip >> 3]! ^= 0x80 >> (flip & 7)
        return { network: written(bytes), bits, address: written(other) }
      })

  it.each([
    [4, 'ipv4'],
    [16, 'ipv6'],
  ] as const)('agrees with Node on addresses of %i bytes', (length, family) => {
    fc.assert(
      fc.property(near(length), ({ network, bits, address }) => {
        const list = new BlockList()
        list.addSubnet(network, bits, family)
        expect(contains(`${network}/${bits}`, address)).toBe(list.check(address, family))
      }),
      { numRuns: 2000 },
    )
  })

  it('agrees with Node on mapped addresses', () => {
    fc.assert(
      fc.property(near(4), ({ network, bits, address }) => {
        const list = new BlockList()
        list.addSubnet(network, bits, 'ipv4')
        const mapped = `::ffff:${address}`
        expect(contains(`${network}/${bits}`, mapped)).toBe(list.check(mapped, 'ipv6'))
      }),
    )
  })
})

function written(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  return Array.from({ length: 8 }, (_, i) =>
    ((bytes[2 * i]! << 8) | bytes[2 * i + 1]!).toString(16),
  ).join(':')
}
