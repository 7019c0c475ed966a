// Whether a client that was silent can be used again: its server takes writes, and the reply belongs to the call.
import type { Millis } from '../time/clock.ts'
import type { ScriptRunner } from './client-adapter.ts'
import { storeError } from './redis-errors.ts'

/** Changes nothing, but only a primary takes it. */
const WRITE = "redis.call('DEL', KEYS[1]) return ARGV[1]"

/** What came of a write: taken by a primary, refused by a replica, or nothing that answers this call. */
type WriteOutcome = 'taken' | 'refused' | 'unanswered'

/** Writes to the server of a count at an instant, which tells this call from others. Never rejects. */
export async function writeAt(
  key: string,
  client: ScriptRunner,
  instant: Millis,
): Promise<WriteOutcome> {
  const id = String(instant)
  try {
    // No count has that name.
    const reply = await client.eval(WRITE, [`${key}:`], [id])
    return String(reply) === id ? 'taken' : 'unanswered'
  } catch (error) {
    const { code } = storeError(error)
    if (code === 'store-readonly') return 'refused'
    return code === 'store-unreachable' || code === 'store-timeout' ? 'unanswered' : 'taken'
  }
}
