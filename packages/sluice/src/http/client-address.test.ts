import { Address4, Address6 } from 'ip-address'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { clientAddress, type AddressOptions } from './client-address.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

const codesOf = (
  options: AddressOptions,
  requests: readonly [string | undefined, string?][] = [],
): string[] => {
  const codes: string[] = []
  const address = clientAddress(options, ({ code }) => void codes.push(code))
  for (const [peer, field] of [...requests, ...requests]) address.of(peer, field)
  return codes
}
const quiet = (): void => undefined

describe('an address as a key', () => {
  it.each<[string, string | undefined, string | undefined]>([
    ['192.0.2.7', '192.0.2.7', '192.0.2.0'],
    ['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.0'],
    ['::FFFF:C000:0207', '192.0.2.7', '192.0.2.0'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7', '192.0.2.0'],
    ['64:ff9b::192.0.2.7', '192.0.2.7', '192.0.2.0'],
    ['64:ff9b::c000:207', '192.0.2.7', '192.0.2.0'],
    // 6to4: a whole /48 of one IPv4 host. A private address in it is nobody's.
    ['2002:c000:207::1', '192.0.2.7', '192.0.2.0'],
    ['2002:c000:0207:ff00::9', '192.0.2.7', '192.0.2.0'],
    ['2002:0a00:0001::1', '2002:a00:1::', '2002:a00:1::'],
    ['64:ff9b::10.0.0.1', '64:ff9b::', '64:ff9b::'],
    // Beside the well-known prefix, and an address that merely ends in dots: still IPv6.
    ['64:ff9b:1::192.0.2.7', '64:ff9b:1::', '64:ff9b:1::'],
    ['2001:db8::192.0.2.7', '2001:db8::', '2001:db8::'],
    ['2001:db8:1:2ff:3:4:5:6', '2001:db8:1:200::', '2001:db8:1::'],
    ['2001:DB8:1:201::1', '2001:db8:1:200::', '2001:db8:1::'],
    ['fe80::1%eth0', 'fe80::1', 'fe80::1'],
    ['fe80::2%eth0', 'fe80::2', 'fe80::2'],
    ['::1', '::1', '::1'],
    ['', undefined, undefined],
    ['unknown', undefined, undefined],
    ['/run/app.sock', undefined, undefined],
    ['192.0.2.07', undefined, undefined],
  ])('%s is %s, in %s', (text, ip, network) => {
    expect(clientAddress().of(text)).toMatchObject({ ip, network })
  })

  it.each([undefined, ''])('has none when the peer is %j', (peer) => {
    expect(clientAddress().of(peer).ip).toBeUndefined()
  })

  it.each([
    [128, '2001:db8:1:2ff:3:4:5:6'],
    [64, '2001:db8:1:2ff::'],
    [57, '2001:db8:1:280::'],
    [48, '2001:db8:1::'],
    [32, '2001:db8::'],
  ])('keeps %i bits of IPv6', (ipv6Prefix, ip) => {
    expect(clientAddress({ ipv6Prefix }).of('2001:db8:1:2ff:3:4:5:6').ip).toBe(ip)
  })

  it('keeps fewer bits of IPv4 when told so', () => {
    expect(clientAddress({ ipv4Prefix: 20 }).of('192.0.255.7').ip).toBe('192.0.240.0')
  })

  const byte = fc.integer({ min: 0, max: 255 })
  it('agrees with an independent library about IPv6 networks', () => {
    const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }))
    const groups = fc.array(group, { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(groups, fc.integer({ min: 32, max: 128 }), (groups, ipv6Prefix) => {
        const text = groups.map((group) => group.toString(16)).join(':')
        const oracle = new Address6(`${text}/${ipv6Prefix}`)
        const isIpv4 =
          oracle.is4() ||
          new Address6(text).isInSubnet(new Address6('64:ff9b::/96')) ||
          new Address6(text).isInSubnet(new Address6('::ffff:0:0/96'))
        fc.pre(
          !isIpv4 &&
            !oracle.isLinkLocal() &&
            groups.slice(0, 2).some((group) => group > 0) &&
            (groups[0]! & 0xffc0) !== 0xfe80,
        )
        expect(clientAddress({ ipv6Prefix }).of(text).ip).toBe(oracle.startAddress().correctForm())
      }),
      { numRuns: 500 },
    )
  })

  it('agrees with an independent library about IPv4 networks', () => {
    fc.assert(
      fc.property(
        fc.tuple(byte, byte, byte, byte),
        fc.integer({ min: 8, max: 32 }),
        (bytes, ipv4Prefix) => {
          const text = bytes.join('.')
          const oracle = new Address4(`${text}/${ipv4Prefix}`).startAddress().address
          expect(clientAddress({ ipv4Prefix }).of(text).ip).toBe(oracle)
          expect(clientAddress({ ipv4Prefix }).of(`::ffff:${text}`).ip).toBe(oracle)
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('a client behind proxies', () => {
  const proxy = '10.0.0.1'
  const networks: TrustedProxies = ['10.0.0.0/8', '2001:db8:ffff::/48', 'loopback']
  const via = (field: string, options: AddressOptions = {}, peer: string | undefined = proxy) =>
    clientAddress({ trustedProxies: networks, ...options }, quiet).of(peer, field).ip

  it.each<[string, string, string | undefined]>([
    ['the only entry', '203.0.113.9', '203.0.113.9'],
    ['the first from the right that is no proxy', '6.6.6.6, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
    [
      'whatever its spelling',
      '203.0.113.9,::ffff:10.1.2.3 , 2001:DB8:FFFF::1,127.0.0.1',
      '203.0.113.9',
    ],
    ['the leftmost when all are proxies', '10.9.9.9, 10.1.2.3', '10.9.9.9'],
    ['without port', '203.0.113.9:4711', '203.0.113.9'],
    ['IPv6 in brackets, with port', '[2001:db8:1:2::3]:4711', '2001:db8:1::'],
    ['IPv6 bare', '2001:db8:1:2::3', '2001:db8:1::'],
    ['the proxy when the entry is no address, never another entry', '203.0.113.9, unknown', proxy],
    ['the proxy when the field is empty', '', proxy],
    ['the proxy when the entry is obfuscated', '_hidden', proxy],
    ['the proxy when the brackets do not close', '[2001:db8::1', proxy],
  ])('is %s', (_, field, expected) => {
    expect(via(field)).toBe(expected)
  })

  it.each<[string, string]>([
    ['for=203.0.113.9', '203.0.113.9'],
    ['for=6.6.6.6, for=203.0.113.9;proto=https;by=10.0.0.9, for=10.1.2.3', '203.0.113.9'],
    ['For="[2001:db8:1:2::3]:4711"', '2001:db8:1::'],
    ['by="a,b;for=6.6.6.6";for="203.0.113.9:80"', '203.0.113.9'],
    ['for=203.0.113.9, proto=https', proxy],
    ['for=unknown', proxy],
    ['for="203.0.113.9', proxy],
    ['for=203.0.113.9, ,', '203.0.113.9'],
    // Only what the trusted proxy appended must be well formed.
    ['for="x, for=203.0.113.9', '203.0.113.9'],
    ['for=@, for=203.0.113.9', '203.0.113.9'],
    ['=;;==,"",for=203.0.113.9', '203.0.113.9'],
    [String.raw`for="a\", for="[2001:db8::1]:80"`, '2001:db8::'],
    ['for=6.6.6.6;for=203.0.113.9', proxy],
    ['for=203.0.113.9, for="x', proxy],
    ['for=203.0.113.9 by=10.0.0.2', proxy],
    ['by=10.0.0.2;FOR="203.0.113.9:80" ; proto=https', '203.0.113.9'],
    ['proto=https;by=10.0.0.2', proxy],
    [String.raw`for="203.0.113\.9"`, '203.0.113.9'],
  ])('is read from Forwarded: %s', (field, expected) => {
    expect(via(field, { header: 'Forwarded' })).toBe(expected)
  })

  it.each([
    ['1.2.3.4,, 203.0.113.9 ,', '203.0.113.9'],
    [' , ,203.0.113.9,,', '203.0.113.9'],
    [',', proxy],
  ])('ignores empty elements: %s', (field, expected) => {
    expect(via(field)).toBe(expected)
  })

  it('is no proxy because it carries the IPv4 address of one', () => {
    const trusting = { trustedProxies: '192.0.2.7' }
    expect(via('6.6.6.6', trusting, '2002:c000:207::1')).toBe('192.0.2.7')
    expect(via('6.6.6.6', trusting, '::ffff:192.0.2.7')).toBe('6.6.6.6')
  })

  it('is read from a header of another name', () => {
    const address = clientAddress({ trustedProxies: 'loopback', header: 'CF-Connecting-IP' })
    expect([address.header, address.of('::1', '203.0.113.9').ip]).toEqual([
      'cf-connecting-ip',
      '203.0.113.9',
    ])
  })

  it('is the peer when the peer is no proxy, whatever it says', () => {
    expect(via('6.6.6.6', {}, '203.0.113.9')).toBe('203.0.113.9')
  })

  it('is the n-th entry from the right for n hops, the leftmost when there are fewer', () => {
    const of = (field: string) => via(field, { trustedProxies: { hops: 2 } }, '192.0.2.1')
    expect(of('6.6.6.6, 203.0.113.9, 192.0.2.2')).toBe('203.0.113.9')
    expect(of('203.0.113.9')).toBe('203.0.113.9')
    expect(of('203.0.113.9, unknown, 192.0.2.2')).toBe('192.0.2.1')
  })

  it('may be behind a Unix socket, if that is trusted by name', () => {
    const unix = clientAddress({ trustedProxies: 'unix' }, quiet)
    expect(unix.of(undefined, '203.0.113.9').ip).toBe('203.0.113.9')
    const other = clientAddress({ trustedProxies: 'loopback' }, quiet)
    expect(other.of(undefined, '203.0.113.9').ip).toBeUndefined()
  })

  it('holds at most two generations of addresses that strangers send', () => {
    const address = clientAddress({ trustedProxies: 'loopback' }, quiet)
    for (let i = 0; i < 10_000; i++) {
      const text = `203.0.${i >> 8}.${i & 255}`
      expect(address.of('127.0.0.1', text).ip).toBe(text)
    }
  })
})

describe('warnings', () => {
  it.each<[string, AddressOptions, readonly [string | undefined, string?][], string[]]>([
    [
      'a peer that is not trusted',
      { trustedProxies: 'loopback' },
      [['192.0.2.1', '6.6.6.6']],
      ['peer-not-trusted'],
    ],
    [
      'a proxy without the header',
      { trustedProxies: 'loopback' },
      [['127.0.0.1']],
      ['proxy-header-missing'],
    ],
    ['everybody trusted', { trustedProxies: '0.0.0.0/0' }, [], ['trust-too-wide']],
    ['all IPv6 trusted', { trustedProxies: ['::/0'] }, [], ['trust-too-wide']],
    ['hops', { trustedProxies: { hops: 1 } }, [], ['hop-count']],
    [
      'fewer hops than said',
      { trustedProxies: { hops: 2 } },
      [['10.0.0.1', '192.0.2.1']],
      ['hop-count', 'fewer-hops'],
    ],
    [
      'nothing to say',
      { trustedProxies: ['private', 'loopback', 'link-local'] },
      [['10.0.0.1', '192.0.2.1']],
      [],
    ],
  ])('tell once of %s', (_, options, requests, codes) => {
    expect(codesOf(options, requests)).toEqual(codes)
  })

  it('go to the console by default', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(quiet)
    clientAddress({ trustedProxies: { hops: 1 } })
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/^sluice: .* \(hop-count, https:\S+\/http\/warnings#hop-count\)$/),
    )
    warn.mockRestore()
  })

  it('that are not accepted are ignored without an error', () => {
    const onWarning = (): void => {
      throw new Error('not now')
    }
    expect(
      clientAddress({ trustedProxies: { hops: 1 } }, onWarning).of('192.0.2.1', '192.0.2.9').ip,
    ).toBe('192.0.2.9')
  })
})

describe('mistakes', () => {
  it.each<[AddressOptions, RegExp]>([
    [{ trustedProxies: [] }, /trustedProxies is \[\]; accepted: networks such as/],
    [{ trustedProxies: '10.0.0.0/33' }, /trustedProxies is "10\.0\.0\.0\/33"/],
    [{ trustedProxies: ['everyone'] }, /trustedProxies is "everyone"/],
    [{ trustedProxies: true as never }, /trustedProxies is true/],
    [{ trustedProxies: { hops: 0 } }, /trustedProxies is \{"hops":0\}/],
    [{ trustedProxies: [7 as never] }, /trustedProxies is 7/],
    [{ header: 'x-real-ip' }, /header is "x-real-ip"; accepted: none without trustedProxies/],
    [{ header: 'a b', trustedProxies: 'unix' }, /header is "a b"/],
    [{ ipv6Prefix: 24 }, /ipv6Prefix is 24; accepted: a whole number, from 32 to 128/],
    [{ trustedProxies: 'privat' }, /"privat"; did you mean private\? accepted: networks/],
    [{ ipv4Prefix: 33 }, /ipv4Prefix is 33/],
  ])('%j is refused', (options, message) => {
    expect(() => clientAddress(options)).toThrow(
      expect.objectContaining({
        code: 'invalid-option',
        message: expect.stringMatching(message) as string,
      }),
    )
  })
})
