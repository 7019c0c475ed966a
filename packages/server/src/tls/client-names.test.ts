import { describe, expect, it } from 'vitest'
import { isListed, namesOf } from './client-names.ts'

describe('the names of a certificate', () => {
  it.each([
    ['DNS:proxy', ['proxy']],
    ['DNS:proxy, IP Address:127.0.0.1', ['proxy', '127.0.0.1']],
    ['URI:spiffe://prod/ns/edge, email:a@b', ['spiffe://prod/ns/edge', 'a@b']],
    ['DNS:"evil, DNS:admin, x", DNS:proxy', ['proxy']],
    ['DNS:"evil\\", DNS:admin", DNS:proxy', ['proxy']],
    ['DNS:"never closed, DNS:admin', []],
    ['othername:UPN:admin, DNS:proxy', ['proxy']],
    ['DirName:CN = admin', []],
    ['', []],
  ])('%s', (subjectaltname, names) => {
    expect(namesOf({ subjectaltname, subject: { CN: 'common' } })).toEqual(names)
  })

  it('are its common name if it has no alternative ones, and only if there is one', () => {
    expect(namesOf({ subject: { CN: 'proxy' } })).toEqual(['proxy'])
    expect(namesOf({ subject: { CN: ['proxy', 'admin'] } })).toEqual([])
    expect(namesOf({})).toEqual([])
  })

  it('are compared letter for letter', () => {
    const certificate = { subjectaltname: 'DNS:proxy.internal' }
    expect(isListed(certificate, ['proxy.internal'])).toBe(true)
    expect(isListed(certificate, ['internal', 'Proxy.internal', '*.internal', ''])).toBe(false)
  })
})
