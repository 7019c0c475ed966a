// Makes the one Redis script of the library from its Lua files, without comments, and the hash it is called by.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './run.mjs'

const files = ['prelude', 'bucket', 'fixed-window', 'sliding-window', 'sliding-log', 'take-all']

/** The content of packages/sluice/src/redis/script.generated.ts. */
export async function makeRedisScript() {
  const folder = join(root, 'packages/sluice/src/redis/lua')
  const sources = await Promise.all(
    files.map((name) => readFile(join(folder, `${name}.lua`), 'utf8')),
  )
  const text = sources.map(withoutComments).join('')
  const hash = createHash('sha1').update(text).digest('hex')
  return [
    '// Generated from redis/lua by `npm run generate`. Do not edit.',
    '',
    '/** The script that decides everything. */',
    `export const SCRIPT: string = ${JSON.stringify(text)}`,
    '',
    '/** The SHA-1 of the script, by which EVALSHA calls it. */',
    `export const SCRIPT_HASH: string = '${hash}'`,
    '',
  ].join('\n')
}

/** @param {string} source */
function withoutComments(source) {
  const lines = source.split('\n').filter((line) => !/^\s*(--.*)?$/.test(line))
  return lines.map((line) => `${line.trim()}\n`).join('')
}
