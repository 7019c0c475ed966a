import { describe, expect, it } from 'vitest'
import type { Pattern } from '../policy/policy.ts'
import { addressProblem } from './address-conditions.ts'

const COUNTED = { ipv4: 32, ipv6: 56 }

describe('a condition on addresses is reported', () => {
  it.each<[string, Pattern, RegExp]>([
    [
      'ip',
      '2001:db8::1',
      /^addresses count by their \/56, so no request has it; write 2001:db8::\/56$/,
    ],
    ['ip', '2001:db8::', /so it holds for all of 2001:db8::\/56; write 2001:db8::\/56$/],
    ['ip', '2001:db8:0:5::/64', /so no request has it; write 2001:db8::\/56$/],
    ['ip', '2001:db8:0:1ff::/57', /so no request has it; write 2001:db8:0:100::\/56$/],
    ['ip', { network: '2001:db8::/64' }, /so it holds for all of 2001:db8::\/56/],
    ['ip', { equals: '2001:DB8::' }, /^no request has it: it would be written 2001:db8::$/],
    ['ip', '2002:cb00:7107::/48', /6to4 counts as the IPv4 address in it/],
    ['ip', '64:ff9b::203.0.113.7', /NAT64 counts as the IPv4 address in it/],
    ['network', '203.0.113.7', /count by their \/24, so no request has it; write 203.0.113.0\/24$/],
    ['network', '2001:db8:0:100::/56', /count by their \/48, so no request has it/],
  ])('%s: %j', (attribute, pattern, problem) => {
    expect(addressProblem(attribute, pattern, COUNTED)).toMatch(problem)
  })

  it('of IPv4, counted by fewer bits', () => {
    expect(addressProblem('ip', '203.0.113.7', { ipv4: 24, ipv6: 56 })).toMatch(/their \/24/)
  })
})

describe('a condition on addresses is not reported', () => {
  it.each<[string, Pattern]>([
    ['ip', '203.0.113.7'],
    ['ip', '203.0.113.0/24'],
    ['ip', '::ffff:203.0.113.7'],
    ['ip', '2001:db8::/56'],
    ['ip', '2001:db8::/32'],
    ['ip', '::/0'],
    ['ip', '::1'],
    ['ip', 'fe80::1'],
    ['ip', 'present'],
    ['ip', '203.0.*'],
    ['ip', { equals: 'unknown' }],
    ['network', '203.0.113.0/24'],
    ['network', '2001:db8::/48'],
    ['network', 'guests'],
    ['user', '2001:db8::1'],
  ])('%s: %j', (attribute, pattern) => {
    expect(addressProblem(attribute, pattern, COUNTED)).toBeUndefined()
  })
})
