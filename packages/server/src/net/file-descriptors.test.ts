import { describe, expect, it } from 'vitest'
import type { ListenersConfig } from '../config/config.ts'
import { descriptorLimit, descriptorLimitIn, descriptorWarning } from './file-descriptors.ts'

const limits = (soft: string) =>
  `Limit                     Soft Limit           Hard Limit           Units\nMax processes             7823                 7823                 processes\nMax open files            ${soft}                 1048576              files\n`

describe('the limit of file descriptors', () => {
  it('is the soft one of the system', () => {
    expect(descriptorLimitIn(limits('1024'))).toBe(1024)
    expect(descriptorLimitIn(limits('unlimited'))).toBe(Infinity)
    expect(descriptorLimitIn('')).toBeUndefined()
  })

  it('is read for this process', () => {
    const isKnown = process.platform === 'linux'
    expect(typeof descriptorLimit()).toBe(isKnown ? 'number' : 'undefined')
  })

  const http = { maxConnections: 1000 }
  it.each([
    [{ http }, 1000, false],
    [{ http }, 999, true],
    [{ http, grpc: {} }, 20_999, true],
    [{ http, grpc: { maxConnections: 10 } }, 1010, false],
    [{ http, proxy: { maxConnections: 100, maxRequests: 50 } }, 1149, true],
    [{ http, admin: { maxConnections: 100 } }, 1099, true],
    [{ http }, undefined, false],
    [{ http }, Infinity, false],
  ])('for %j and %s: warned of is %s', (listeners, limit, isWarned) => {
    const warning = descriptorWarning(listeners as unknown as ListenersConfig, limit)
    expect(warning?.includes('raise the limit (ulimit -n, LimitNOFILE)') ?? false).toBe(isWarned)
  })
})
