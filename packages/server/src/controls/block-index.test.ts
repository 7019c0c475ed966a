import { describe, expect, it } from 'vitest'
import { BlockIndex } from './block-index.ts'
import { controlId, type Block } from './control.ts'

function block(attributes: Record<string, string>, more: Partial<Block> = {}): Block {
  const id = controlId('block', [null, attributes])
  const common = { kind: 'block', id, policy: null, note: '', by: 'test' } as const
  return { ...common, attributes, since: 0, until: 1000, ...more }
}

describe('the index of blocks', () => {
  it.each<[string, Block, Parameters<BlockIndex['find']>[1], boolean]>([
    ['an attribute', block({ user: 'ann' }), { user: 'ann', ip: '192.0.2.1' }, true],
    ['another value', block({ user: 'ann' }), { user: 'bob' }, false],
    ['a missing attribute', block({ user: 'ann' }), { ip: 'ann' }, false],
    ['all of several', block({ user: 'ann', route: '/a' }), { route: '/a', user: 'ann' }, true],
    ['one of several', block({ user: 'ann', route: '/a' }), { user: 'ann' }, false],
    ['a border that moved', block({ a: 'xy', b: 'z' }), { a: 'x', b: 'yz' }, false],
    ['a number', block({ user: '42' }), { user: 42 }, true],
    ['a key as text', block({ key: 'k' }), 'k', true],
    ['text for another attribute', block({ user: 'k' }), 'k', false],
    ['an inherited name', block({ constructor: 'x' }), {}, false],
    ['the policy', block({ user: 'ann' }, { policy: 'api' }), { user: 'ann' }, true],
    ['another policy', block({ user: 'ann' }, { policy: 'web' }), { user: 'ann' }, false],
    ['one that has ended', block({ user: 'ann' }, { until: 10 }), { user: 'ann' }, false],
    ['an address as it is', block({ ip: '2001:db8::1' }), { ip: '2001:db8::1' }, true],
    ['another spelling of a route', block({ route: '/a/:id' }), { route: '/a/{id}' }, true],
    ['a route with braces', block({ route: '/a/{id}' }), { route: '/a/:id' }, true],
    ['a star, which stands for itself', block({ user: 'a*' }), { user: 'ann' }, false],
    ['capitals in an address', block({ ip: '2001:DB8::5' }), { ip: '2001:db8::' }, true],
    ['the network that stands for it', block({ ip: '2001:db8::1' }), { ip: '2001:db8::' }, true],
  ])('%s', (_, one, attributes, isBlocked) => {
    const found = new BlockIndex([one]).find('api', attributes, 10)
    expect(found === undefined).toBe(!isBlocked)
  })

  it('names every attribute of its blocks', () => {
    const blocks = [block({ user: 'ann', ip: '192.0.2.1' }), block({ user: 'bob' })]
    expect([...new BlockIndex(blocks).names].toSorted()).toEqual(['ip', 'user'])
  })

  it('takes addresses for the networks by which they are counted', () => {
    const index = new BlockIndex([block({ ip: '2001:db8:0:12ff::7' })], 64)
    expect(index.find('api', { ip: '2001:db8:0:12ff::' }, 0)).toBeDefined()
    expect(index.find('api', { ip: '2001:db8:0:1200::' }, 0)).toBeUndefined()
  })

  it('gives the block that lasts longest', () => {
    const blocks = [
      block({ user: 'ann' }),
      block({ ip: '1' }, { until: 5000 }),
      block({ user: 'ann' }, { policy: 'api', until: 3000 }),
    ]
    expect(new BlockIndex(blocks).find('api', { user: 'ann', ip: '1' }, 0)?.until).toBe(5000)
    expect(new BlockIndex(blocks).find('api', { user: 'ann' }, 0)?.until).toBe(3000)
  })
})
