// Set-ups that limit no requests, or not those that were meant, are reported when a limiter is made.
import { describe, expect, it, vi } from 'vitest'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { createLimiter } from './create-limiter.ts'
import type { LimiterWarning } from './skipped-rules.ts'

/** A listener, and what it has heard. */
function listener() {
  const codes: string[] = []
  const messages: string[] = []
  const onWarning = ({ code, message }: LimiterWarning): void => {
    codes.push(code)
    messages.push(message)
  }
  return { codes, messages, onWarning }
}
const policy = (rule: object) =>
  ({ name: 'api', rules: [{ name: 'r', by: ['user'], limit: '5/min', ...rule }] }) as never

describe('a duration without a unit', () => {
  it.each([60, 1, 900, 3600, 86_400])('is reported: a window of %i', (window) => {
    const { codes, messages, onWarning } = listener()
    createLimiter({ limit: { quota: 5, window }, onWarning }).close()
    createLimiter({ policy: policy({ limit: { quota: 5, window } }), onWarning }).close()
    expect(codes).toEqual(['bare-duration', 'bare-duration'])
    expect(messages[0]).toContain(`window is ${window} milliseconds; write '${window}s'`)
  })

  it.each<[string, object]>([
    ['a tier', { tiers: { attribute: 'plan', limits: { pro: { quota: 9, window: 60 } } } }],
    ['an override', { overrides: [{ when: { user: 'a' }, limit: { quota: 9, window: 60 } }] }],
    ['a lockout', { lockout: { after: 3, for: 600 } }],
  ])('is reported in %s', (_, rule) => {
    const { codes, onWarning } = listener()
    createLimiter({ policy: policy(rule), onWarning }).close()
    expect(codes).toEqual(['bare-duration'])
  })

  it.each([1000, 1500, 60_000, 90_000, '60ms', '1s'] as const)('is none: %s', (window) => {
    const { codes, onWarning } = listener()
    createLimiter({ limit: { quota: 5, window }, onWarning }).close()
    expect(codes).toEqual([])
  })

  it('is written to the console once', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    for (let i = 0; i < 3; i++) createLimiter({ limit: { quota: 5, window: 77 } }).close()
    const lines = warn.mock.calls.map(([line]) => String(line))
    warn.mockRestore()
    expect(lines).toEqual([expect.stringContaining('window is 77 milliseconds')])
  })
})

describe('two bare limits on one store', () => {
  it('that differ share their counts, which is reported', () => {
    const store = memoryStore()
    const { codes, messages, onWarning } = listener()
    createLimiter({ limit: '5/min', store, onWarning })
    createLimiter({ limit: '100/min', store, onWarning })
    expect(codes).toEqual(['counts-shared'])
    expect(messages[0]).toMatch(/5\/60s.*100\/60s/)
  })

  it('are quiet where they count apart, are the same, or follow each other', () => {
    const { codes, onWarning } = listener()
    const store = memoryStore()
    createLimiter({ limit: '5/min', store, onWarning })
    createLimiter({ limit: '5/min', store, onWarning })
    createLimiter({ limit: '100/h', store, onWarning })
    createLimiter({ limit: '50/min', store: memoryStore(), onWarning })
    createLimiter({ policy: policy({}), store, onWarning })
    const other = memoryStore()
    createLimiter({ limit: '5/min', store: other, onWarning }).close()
    createLimiter({ limit: '9/min', store: other, onWarning })
    expect(codes).toEqual([])
  })
})

describe('limiters with counts of their own', () => {
  it('that are made again and again are reported, once', () => {
    const { codes, messages, onWarning } = listener()
    const made = Array.from({ length: 1001 }, () => createLimiter({ limit: '5/min', onWarning }))
    expect(codes).toEqual(['limiters-many'])
    expect(messages[0]).toContain('once, outside of the request handler')
    for (const limiter of made) limiter.close()
  })

  it('are quiet where they are closed, or share a store', () => {
    const { codes, onWarning } = listener()
    const store = memoryStore()
    for (let i = 0; i < 1100; i++) {
      createLimiter({ limit: '5/min', onWarning }).close()
      createLimiter({ limit: '5/min', onWarning, store })
    }
    expect(codes).toEqual([])
  })
})
