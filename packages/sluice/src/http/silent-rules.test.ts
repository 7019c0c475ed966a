import { describe, expect, it } from 'vitest'
import type { PolicyInCode, RuleInCode } from '../policy/policy.ts'
import { rateLimit as forFastify } from './fastify.ts'
import { apiKeyHash } from './identity.ts'
import { rateLimit as forNode } from './node.ts'
import type { HttpWarning } from './warnings.ts'

type Adapter = (options: object) => unknown

/** The warnings at construction of an adapter with one rule. */
function warningsOf(
  rule: Partial<RuleInCode>,
  options: object = {},
  adapter = forNode as unknown as Adapter,
): readonly string[] {
  const warnings: HttpWarning[] = []
  const policy: PolicyInCode = {
    name: 'api',
    rules: [{ name: 'one', by: [], limit: '1/min', ...rule }],
  }
  adapter({ policy, ...options, onWarning: (warning: HttpWarning) => void warnings.push(warning) })
  return warnings.map(({ code, message }) => `${code}: ${message}`)
}

const user = (): string => 'ann'

describe('an adapter warns when it is made of a rule that never applies', () => {
  it.each<[string, Partial<RuleInCode>, object, string[]]>([
    [
      'by an attribute that nothing sets',
      { by: ['usr'] },
      { user },
      ['attribute-unset: rule one needs the attribute usr, which nothing sets: did you mean user?'],
    ],
    [
      'by an identity that has no option',
      { by: ['user'] },
      {},
      [
        'attribute-unset: rule one needs the attribute user, which nothing sets: set it by the option user or attributes',
      ],
    ],
    [
      'under a condition that nothing sets',
      { when: { region: 'eu' } },
      {},
      [
        'attribute-unset: rule one needs the attribute region, which nothing sets: set it by the option attributes',
      ],
    ],
    [
      'by tiers of an attribute that nothing sets',
      { tiers: { attribute: 'plan', limits: { pro: '9/min' } } },
      { user },
      [
        'attribute-unset: rule one needs the attribute plan, which nothing sets: set it by the option plan or attributes',
      ],
    ],
    [
      'by what looks like a slip, where a function may set anything',
      { by: ['usr'] },
      { attributes: () => ({}) },
      ['attribute-unset: rule one needs the attribute usr, which nothing sets: did you mean user?'],
    ],
    [
      'with a cost that nothing sets',
      { cost: 'tokens' },
      {},
      [
        'attribute-unset: rule one needs the attribute tokens, which nothing sets: set it by the option attributes',
      ],
    ],
    [
      'for one IPv6 address of a network that counts as one',
      { when: { ip: ['203.0.113.7', '2001:db8:0:5::1'] } },
      {},
      [
        'address-prefix: rule one asks for ip 2001:db8:0:5::1: addresses count by their /56, so no request has it; write 2001:db8::/56, or set address.ipv6Prefix',
      ],
    ],
    [
      'for the first network of one that counts as one',
      { overrides: [{ when: { ip: { network: '2001:db8::/64' } }, limit: 'unlimited' }] },
      {},
      [
        'address-prefix: rule one asks for ip 2001:db8::/64: addresses count by their /56, so it holds for all of 2001:db8::/56; write 2001:db8::/56, or set address.ipv6Prefix',
      ],
    ],
    [
      'for an API key in plain text',
      { overrides: [{ when: { apiKey: 'sk_live_1' }, limit: '9/min' }] },
      { apiKey: user },
      [
        `api-key-plain: rule one asks for an apiKey in plain text, which no request has: keys are compared by their hashes; write ${apiKeyHash('sk_live_1')}`,
      ],
    ],
    [
      'for a method with a space',
      { when: { method: ['POST ', 'GET'] } },
      {},
      [
        'method-name: rule one asks for the method POST , which no request has: it counts as *other',
      ],
    ],
    [
      'for a method in lower case',
      { when: { method: ['post', 'PUT'] } },
      {},
      ['method-name: rule one asks for the method post, which no request has: it counts as POST'],
    ],
    [
      'by a tier for a method in lower case',
      { tiers: { attribute: 'method', limits: { post: '9/min' } } },
      {},
      ['method-name: rule one asks for the method post, which no request has: it counts as POST'],
    ],
    [
      'for HEAD, which counts as GET',
      { overrides: [{ when: { method: 'HEAD' }, limit: '9/min' }] },
      {},
      ['method-name: rule one asks for the method HEAD, which no request has: it counts as GET'],
    ],
    [
      'for a route that is not declared',
      { when: { route: '/exprts/{id}' } },
      { routes: ['/exports/{id}'] },
      [
        'route-undeclared: rule one asks for the route /exprts/{id}, which is not among routes: did you mean /exports/{id}?',
      ],
    ],
  ])('%s', (_, rule, options, expected) => {
    expect(warningsOf(rule, options)).toEqual(expected)
  })

  it('all of one kind in one warning', () => {
    expect(warningsOf({ by: ['user'], when: { region: 'eu' } })).toEqual([
      expect.stringMatching(/^attribute-unset: .* user, .*; .* region, /),
    ])
  })
})

describe('an adapter does not warn', () => {
  it.each<[string, Partial<RuleInCode>, object]>([
    ['of a rule by the address', { by: ['ip'] }, {}],
    ['of a rule by a key', { by: ['key'] }, {}],
    ['of identities with an option', { by: ['user'] }, { user }],
    ['of attributes in the table', { by: ['account'] }, { attributes: { account: user } }],
    ['of attributes that a function may set', { by: ['account'] }, { attributes: () => ({}) }],
    ['of an attribute that must be absent', { when: { user: 'absent' } }, {}],
    ['of one that may be absent', { when: { plan: ['free', 'absent'] } }, {}],
    ['of an IPv6 network', { when: { ip: '2001:db8::/56' } }, {}],
    [
      'of an address, by more bits',
      { when: { ip: '2001:db8::1' } },
      { address: { ipv6Prefix: 128 } },
    ],
    [
      'of an address that a table sets',
      { when: { ip: '2001:db8::1' } },
      { attributes: { ip: user } },
    ],
    ['of a cost in the table', { cost: 'tokens' }, { attributes: { tokens: user } }],
    ['of HEAD beside GET', { when: { method: ['GET', 'HEAD'] } }, {}],
    ['of the hash of an API key', { when: { apiKey: apiKeyHash('k') } }, { apiKey: user }],
    ['of a method', { when: { method: 'POST' } }, {}],
    ['of a route in another spelling', { when: { route: '/a/:id' } }, { routes: ['/a/{id}'] }],
    ['of a route below a mount', { when: { route: '/a/{id}/b' } }, { routes: ['/a/:id'] }],
    ['of routes by a prefix', { when: { route: '/b/*' } }, { routes: ['/a'] }],
  ])('%s', (_, rule, options) => {
    expect(warningsOf(rule, options)).toEqual([])
  })

  it('of a route that the framework itself may match', () => {
    const rule = { when: { route: '/b' } }
    expect(warningsOf(rule, { routes: ['/a'] }, forFastify as unknown as Adapter)).toEqual([])
  })
})
