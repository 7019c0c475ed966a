// Which requests share what is learned of a server: those to one host with one credential.
import { show, SluiceError } from '../errors.ts'
import { sha256 } from '../key/sha256.ts'
import type { HeaderReader } from './hints/quota.ts'

/** A request, as far as keys need it. */
export interface Addressed {
  readonly url: string
  readonly headers: HeaderReader
}

/**
 * Who shares: everybody who asks the same `host`; those who ask it with the same `credential` (Authorization,
 * X-Api-Key or Cookie); or what a function says. An empty text shares with nobody.
 */
export type KeyChoice = 'host' | 'credential' | ((request: Addressed) => string)

/** The key of a request by a choice. */
export function keyFor(choice: KeyChoice): (request: Addressed) => string {
  if (typeof choice === 'function') return (request) => textOf(choice(request))
  return choice === 'host' ? hostOf : credentialOf
}

/** What is not text would be shared by accident: every `undefined` is the same. */
function textOf(key: unknown): string {
  if (typeof key === 'string') return key
  const accepted = 'text, which is empty for a request that shares with nobody'
  throw new SluiceError('invalid-option', `key returned ${show(key)}; accepted: ${accepted}`)
}

/** An address that cannot be read shares with nobody: the fetch behind will say what is wrong with it. */
function hostOf({ url }: Addressed): string {
  return URL.canParse(url) ? new URL(url).host : ''
}

/** Secrets stand in it as their hash: keys are seen in events and in dumps of the memory. */
function credentialOf(request: Addressed): string {
  const { headers } = request
  const secret =
    headers.get('authorization') ?? headers.get('x-api-key') ?? headers.get('cookie') ?? ''
  const host = hostOf(request)
  return secret === '' || host === '' ? host : `${host} ${sha256(secret).slice(0, 16)}`
}
