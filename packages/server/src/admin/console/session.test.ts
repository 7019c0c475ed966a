import { describe, expect, it } from 'vitest'
import { digestOf, type Token } from '../../config/tokens.ts'
import { SESSION_COOKIE, SESSION_LIFE, Sessions, signInCode } from './session.ts'

const ann: Token = {
  name: 'ann',
  role: 'operate',
  digest: digestOf('the token of ann, which is long'),
}
const bob: Token = {
  name: 'bob',
  role: 'read',
  digest: digestOf('the token of bob, which is long'),
}

function made(tokens: readonly Token[] = [ann, bob]) {
  const clock = { now: 1_000_000 }
  let current = tokens
  const sessions = new Sessions(
    () => current,
    () => clock.now,
  )
  const cookie = (token: Token) => `${SESSION_COOKIE}=${sessions.open(token)}`
  return { sessions, clock, cookie, replace: (others: readonly Token[]) => (current = others) }
}

describe('a session', () => {
  it('knows the name and the role of the token that opened it', () => {
    const { sessions, cookie } = made()
    expect(sessions.of(cookie(bob))).toMatchObject({ name: 'bob', role: 'read' })
    expect(sessions.of(`a=b; ${cookie(ann)}; c=d`)).toMatchObject({ name: 'ann' })
  })

  it('is accepted by every process that has the same tokens', () => {
    expect(made().sessions.of(made().cookie(ann))).toMatchObject({ name: 'ann' })
  })

  it('ends after eight hours', () => {
    const { sessions, clock, cookie } = made()
    const field = cookie(ann)
    clock.now += SESSION_LIFE - 1
    expect(sessions.of(field)).toBeDefined()
    clock.now += 1
    expect(sessions.of(field)).toBeUndefined()
  })

  it('ends when its token is removed or replaced', () => {
    const { sessions, cookie, replace } = made()
    const field = cookie(ann)
    replace([bob])
    expect(sessions.of(field)).toBeUndefined()
    replace([{ ...ann, digest: digestOf('another token of ann, also long') }])
    expect(sessions.of(field)).toBeUndefined()
    replace([{ ...ann, role: 'read' }])
    expect(sessions.of(field)).toMatchObject({ role: 'read' })
  })

  it.each([
    ['nothing', undefined],
    ['an empty value', `${SESSION_COOKIE}=`],
    ['junk', `${SESSION_COOKIE}=junk.junk`],
    ['bytes that are not JSON', `${SESSION_COOKIE}=____.____`],
    ['a field of 64 kB', `${SESSION_COOKIE}=${'x'.repeat(65_536)}`],
  ])('is not made of %s', (_, field) => {
    expect(made().sessions.of(field)).toBeUndefined()
  })

  it('is refused when it was changed in any character, or sent twice', () => {
    const { sessions, cookie } = made()
    const field = cookie(ann)
    for (let i = SESSION_COOKIE.length + 1; i < field.length; i += 7) {
      const other = field[i] === 'A' ? 'B' : 'A'
      const changed = field.slice(0, i) + other + field.slice(i + 1)
      expect([i, sessions.of(changed)]).toEqual([i, undefined])
    }
    expect(sessions.of(`${field}; ${field}`)).toBeUndefined()
  })
})

describe('a sign-in link', () => {
  it('works once, and only within ten minutes', async () => {
    const { sessions, clock } = made()
    const code = signInCode(ann, clock.now)
    expect(await sessions.useLink(code)).toBe(ann)
    expect(await sessions.useLink(code)).toBeUndefined()
    const late = signInCode(ann, clock.now)
    clock.now += 10 * 60_000
    expect(await sessions.useLink(late)).toBeUndefined()
  })

  it('does not work again in another spelling of its signature', async () => {
    const { sessions, clock } = made()
    const code = signInCode(ann, clock.now)
    expect(await sessions.useLink(code)).toBe(ann)
    // Base64 has room for characters that mean nothing.
    const last = code.at(-1)!
    const next = String.fromCharCode(last.charCodeAt(0) + 1)
    for (const other of [`${code}=`, `${code}\n`, ` ${code}`, `${code}!`, code.slice(0, -1) + next])
      expect([other, await sessions.useLink(other)]).toEqual([other, undefined])
  })

  it('is no session, and a session is no link', async () => {
    const { sessions, clock, cookie } = made()
    expect(sessions.of(`${SESSION_COOKIE}=${signInCode(ann, clock.now)}`)).toBeUndefined()
    expect(await sessions.useLink(cookie(ann).slice(SESSION_COOKIE.length + 1))).toBeUndefined()
  })
})
