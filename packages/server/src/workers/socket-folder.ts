// Where the owner of the counts listens.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What the system can take as the path of a socket; the rest of a longer one is left out without a word. */
const LONGEST_SOCKET = 100

/** Makes a folder that is nobody else's: whoever can open the socket in it can spend all units. Throws when it cannot. */
export function folderForSocket(): string {
  const within = tmpdir()
  const accepted = `accepted: a TMPDIR of at most ${LONGEST_SOCKET - 20} bytes that can be written, or counts in Redis`
  if (Buffer.byteLength(within) > LONGEST_SOCKET - 20)
    throw new Error(`the workers' socket cannot be in ${within}: its path is too long; ${accepted}`)
  try {
    return mkdtempSync(join(within, 'sluice-'))
  } catch (error) {
    const { message } = error as Error
    throw new Error(`the workers' socket cannot be in ${within}: ${message}; ${accepted}`, {
      cause: error,
    })
  }
}
