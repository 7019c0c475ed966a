// The tokens of the admin API, of which only hashes are kept.
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'

/** Shorter tokens can be guessed. */
const SHORTEST_TOKEN = 24
const LONGEST_TOKEN = 512

/** A token's hash, and the name under which its holder appears in the audit log. */
export interface Token {
  readonly name: string
  readonly digest: Buffer
}

/** The hash that stands for a token. */
export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest()
}

/** Whether a text can be a token: visible ASCII, as header fields carry it, and long enough. */
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
 * The tokens in a file: one a line, either alone or behind a name and a space; lines that begin with # and empty ones
 * do not count. Throws when a line is wrong, without repeating it.
 */
export async function readTokens(file: string): Promise<readonly Token[]> {
  const lines = (await readFile(file, 'utf8')).split(/\r?\n/)
  const tokens: Token[] = []
  for (const [i, line] of lines.entries()) {
    const text = line.trim()
    if (text === '' || text.startsWith('#')) continue
    const [first = '', second, ...more] = text.split(/\s+/)
    const [name, token] =
      second === undefined ? [`token ${tokens.length + 1}`, first] : [first, second]
    if (more.length > 0 || !isToken(token) || name.length > 60)
      throw new Error(
        `${file}:${i + 1}: accepted: a token, or a name and a token; a token has ${TOKEN}`,
      )
    tokens.push({ name, digest: digestOf(token) })
  }
  if (tokens.length === 0) throw new Error(`${file}: there is no token in it; accepted: one a line`)
  return tokens
}
