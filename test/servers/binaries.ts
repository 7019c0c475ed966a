// Names the programs that the tests start as servers.
import { ensureValkey } from '../../scripts/ensure-valkey.mjs'

let valkey: ReturnType<typeof ensureValkey> | undefined

/** The Valkey server of this machine with its version, or the reason why there is none. The first call may download it. */
export function findValkey(): ReturnType<typeof ensureValkey> {
  return (valkey ??= ensureValkey())
}

/** The command for 'redis', 'valkey' or the path of another server. Throws with a reason when there is no Valkey. */
export async function commandOf(binary: string): Promise<string> {
  if (binary === 'redis') return 'redis-server'
  if (binary !== 'valkey') return binary
  const found = await findValkey()
  if (found.path === undefined) throw new Error(found.reason)
  return found.path
}
