// Sign-in links that were used, in Redis: of several workers or instances with one token, only the first accepts a link.
import { createHash } from 'node:crypto'
import type { Millis } from 'sluice'
import { RequestError } from '../../net/problem.ts'
import type { ScriptRunner } from '../../controls/redis-control-store.ts'

/** Claims a link for so many milliseconds; false when it was claimed before. Rejects when that cannot be known. */
export type ClaimLink = (code: string, life: Millis) => Promise<boolean>

/** How long Redis may take to answer. */
const DEADLINE: Millis = 2000

const CLAIM = `
if redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1]) then return 1 end
return 0
`

/** Claims links beside the counts of a prefix. */
export function linkClaims(client: ScriptRunner, prefix: string): ClaimLink {
  return async (code, life) => {
    const name = createHash('sha256').update(code).digest('base64url')
    // Counts end in eight characters, so that none of them is named so.
    const key = `${prefix}{~links}${name}-`
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${DEADLINE} ms`)), DEADLINE)
    })
    try {
      const reply = client.eval(CLAIM, 1, key, String(Math.max(1, Math.ceil(life))))
      return (await Promise.race([reply, late])) === 1
    } catch {
      const detail =
        'whether this link was used cannot be known now; try again, or sign in with a token'
      throw new RequestError(503, 'store-unreachable', detail)
    } finally {
      clearTimeout(timer)
    }
  }
}
