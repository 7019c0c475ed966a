// Sessions of the console: signed cookies, so that every worker and every instance with the same tokens accepts them.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Millis } from 'sluice'
import type { Role, Token } from '../../config/tokens.ts'
import type { ClaimLink } from './link-claims.ts'

/** The name of the cookie. The prefix `__Host-` would need TLS, which loopback does not have. */
export const SESSION_COOKIE = 'sluice_session'
/** How long a session lasts. */
export const SESSION_LIFE: Millis = 8 * 3_600_000
/** How long a sign-in link may be used. */
const LINK_LIFE: Millis = 10 * 60_000
/** Links that were used, remembered until they would have ended anyway. */
const MAX_USED_LINKS = 1000

/** The holder of a token, who has signed in. */
export interface Session {
  readonly name: string
  readonly role: Role
  /** When the session ends, in milliseconds since 1970. */
  readonly end: Millis
}

type Purpose = 'session' | 'link'

/** Makes and checks sessions and one-time sign-in links. The key of each is derived from the token that it stands for. */
export class Sessions {
  private readonly tokens: () => readonly Token[]
  private readonly clock: () => Millis
  private readonly claim: ClaimLink | undefined
  private readonly usedLinks = new Map<string, Millis>()

  /** `claim` keeps other processes with the same tokens from accepting a link again. */
  constructor(tokens: () => readonly Token[], clock: () => Millis = Date.now, claim?: ClaimLink) {
    this.tokens = tokens
    this.claim = claim
    this.clock = clock
  }

  /** The value of a new session's cookie for the holder of a token. */
  open(token: Token): string {
    return signed('session', token, this.clock() + SESSION_LIFE)
  }

  /** The session behind a Cookie field; undefined when there is none, it has ended, or its token is gone. */
  of(cookies: string | undefined): Session | undefined {
    const value = cookieIn(cookies, SESSION_COOKIE)
    const found = value === undefined ? undefined : this.check('session', value)
    return found && { name: found.token.name, role: found.token.role, end: found.end }
  }

  /**
   * The token behind the code of a sign-in link, once; undefined when it was used, has ended or is not ours. Rejects when
   * it cannot be known whether another process has accepted it.
   */
  async useLink(code: string): Promise<Token | undefined> {
    const found = this.check('link', code)
    if (found === undefined || this.usedLinks.has(code)) return undefined
    for (const [used, end] of this.usedLinks) if (end <= this.clock()) this.usedLinks.delete(used)
    // Refusing a new link is better than accepting one twice.
    if (this.usedLinks.size >= MAX_USED_LINKS) return undefined
    this.usedLinks.set(code, found.end)
    if (this.claim === undefined) return found.token
    try {
      return (await this.claim(code, found.end - this.clock())) ? found.token : undefined
    } catch (error) {
      this.usedLinks.delete(code)
      throw error
    }
  }

  private check(
    purpose: Purpose,
    value: string,
  ): { readonly token: Token; readonly end: Millis } | undefined {
    const [body = '', signature = '', ...more] = value.split('.')
    if (more.length > 0 || value.length > 1000) return undefined
    const [name, end] = bodyOf(body)
    const token = this.tokens().find((one) => one.name === name)
    if (token === undefined || !(end > this.clock())) return undefined
    // The texts are compared, not their bytes: base64 spells the same bytes in several ways, and a link works once.
    const expected = Buffer.from(signatureOf(purpose, token, body).toString('base64url'))
    const presented = Buffer.from(signature)
    const isOurs = presented.length === expected.length && timingSafeEqual(presented, expected)
    return isOurs ? { token, end } : undefined
  }
}

/** The code of a link that signs in once, within ten minutes. */
export function signInCode(token: Token, now: Millis): string {
  return signed('link', token, now + LINK_LIFE)
}

function signed(purpose: Purpose, token: Token, end: Millis): string {
  const nonce = randomBytes(12).toString('base64url')
  const body = Buffer.from(JSON.stringify([token.name, end, nonce])).toString('base64url')
  return `${body}.${signatureOf(purpose, token, body).toString('base64url')}`
}

function signatureOf(purpose: Purpose, { digest }: Token, body: string): Buffer {
  const key = createHmac('sha256', digest).update(`sluice console ${purpose}`).digest()
  return createHmac('sha256', key).update(body).digest()
}

function bodyOf(body: string): readonly [name: unknown, end: number] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))
    return Array.isArray(parsed) ? [parsed[0], Number(parsed[1])] : [undefined, 0]
  } catch {
    return [undefined, 0]
  }
}

/** The value of a cookie, when the field holds it exactly once. */
function cookieIn(field: string | undefined, name: string): string | undefined {
  if (field === undefined || field.length > 8192) return undefined
  const values = field
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
  return values.length === 1 ? values[0]!.slice(name.length + 1) : undefined
}
