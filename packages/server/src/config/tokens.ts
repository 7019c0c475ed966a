// The tokens of the admin API, of which only hashes are kept.
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'

/** Shorter tokens can be guessed. */
const SHORTEST_TOKEN = 24
const LONGEST_TOKEN = 512

/** What the holder of a token may do: look, or change things too. */
export type Role = 'read' | 'operate'

const ROLES: readonly string[] = ['read', 'operate'] satisfies readonly Role[]

/** A token's hash, the name under which its holder appears in the audit log, and what the holder may do. */
export interface Token {
  readonly name: string
  readonly role: Role
  readonly digest: Buffer
}

/** The hash of a token. */
export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest()
}

/** Whether a string can be a token: visible ASCII, as header fields carry it, and long enough. */
export function isToken(text: string): boolean {
  return (
    /^[\x21-\x7e]+$/.test(text) && text.length >= SHORTEST_TOKEN && text.length <= LONGEST_TOKEN
  )
}

/** What is accepted as a token, for messages. */
export const TOKEN: string = `${SHORTEST_TOKEN} to ${LONGEST_TOKEN} visible ASCII characters, such as the output of openssl rand -base64 32`

/** Whether other users of the machine may read a file. */
export async function isReadByOthers(file: string): Promise<boolean> {
  const { mode } = await stat(file)
  return process.platform !== 'win32' && (mode & 0o004) !== 0
}

/**
 * The tokens in a file: one a line, alone, behind a name, or behind a name and a role. The role is `operate` unless
 * the line says `read`. Lines that begin with # and empty ones do not count. Throws when a line is wrong, without
 * repeating it.
 */
export async function readTokens(file: string): Promise<readonly Token[]> {
  const lines = (await readFile(file, 'utf8')).split(/\r?\n/)
  const tokens: Token[] = []
  for (const [i, line] of lines.entries()) {
    const text = line.trim()
    if (text === '' || text.startsWith('#')) continue
    const words = text.split(/\s+/)
    const token = words.at(-1)!
    const name = words.length === 1 ? `token ${tokens.length + 1}` : words[0]!
    const role = words.length === 3 ? words[1]! : 'operate'
    if (words.length > 3 || !isToken(token) || name.length > 60 || !ROLES.includes(role))
      throw new Error(
        `${file}:${i + 1}: accepted: a token, a name and a token, or a name, a role (${ROLES.join(' or ')}) and a token; a token has ${TOKEN}`,
      )
    if (tokens.some((other) => other.name === name))
      throw new Error(
        `${file}:${i + 1}: the name ${name} stands above already; accepted: a name of its own`,
      )
    tokens.push({ name, role: role as Role, digest: digestOf(token) })
  }
  if (tokens.length === 0) throw new Error(`${file}: there is no token in it; accepted: one a line`)
  return tokens
}
