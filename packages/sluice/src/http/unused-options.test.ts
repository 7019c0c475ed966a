// Options that say who a caller is and that nothing reads are refused or reported, and those that are read are not.
import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { rateLimit } from './fetch.ts'
import type { HttpOptions, HttpWarning } from './index.ts'

const who = () => 'ann'
const policy = { name: 'p', rules: [{ name: 'r', by: ['user'], limit: '9/min' }] }
type Options = HttpOptions<Request, Response>

/** What a limiter with these options warns of. */
function warned(limiter: ReturnType<typeof createLimiter>, options: Options): readonly string[] {
  const warnings: HttpWarning[] = []
  rateLimit(limiter, { ...options, onWarning: (warning) => void warnings.push(warning) })
  return warnings.map(({ code, message }) => `${code}: ${message}`)
}

describe('options that a bare limit does not read', () => {
  it.each<[string, Options]>([
    ['tenant', { tenant: who }],
    ['plan', { plan: who, user: who }],
    ['attributes', { attributes: () => ({ team: 'a' }) }],
    ['attributes', { attributes: { team: who } }],
    ['user', { key: who, user: who }],
    ['apiKey', { key: who, apiKey: who }],
  ])('such as %s are refused', (name, options) => {
    const message = new RegExp(`^rateLimit: ${name} is given beside`)
    expect(() => rateLimit({ limit: '9/min', ...options })).toThrow(message)
    expect(warned(createLimiter({ limit: '9/min' }), options)).toEqual([
      expect.stringMatching(new RegExp(`^option-unused: ${name} is given beside`)),
    ])
  })

  it.each<[string, Options]>([
    ['key', { key: who }],
    ['user and apiKey', { user: who, apiKey: who }],
  ])('are not %s', (_, options) => {
    expect(() => rateLimit({ limit: '9/min', ...options })).not.toThrow()
    expect(warned(createLimiter({ limit: '9/min' }), options)).toEqual([])
  })

  it('are read by the function that blocks', () => {
    const blocked = () => 0
    expect(() => rateLimit({ limit: '9/min', blocked, tenant: who })).not.toThrow()
    expect(warned(createLimiter({ limit: '9/min', blocked }), { tenant: who })).toEqual([])
  })
})

describe('key beside a policy', () => {
  it('is refused where no rule counts by it', () => {
    expect(() => rateLimit({ policy, user: who, key: who })).toThrow(
      'rateLimit: key is given, and no rule of the policy counts by key',
    )
  })

  it.each([
    { name: 'p', rules: [{ name: 'r', by: ['user', 'key'], limit: '9/min' }] },
    { name: 'p', rules: [{ name: 'r', by: ['user'], limit: () => '9/min' }] },
  ])('is read by %j', (read) => {
    expect(() => rateLimit({ policy: read, user: who, key: who })).not.toThrow()
  })

  it('is not missed beside tenant, plan and attributes', () => {
    expect(warned(createLimiter({ policy }), { user: who, tenant: who, plan: who })).toEqual([])
  })
})
