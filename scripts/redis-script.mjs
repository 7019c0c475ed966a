// Makes the one Redis script of the library from its Lua files, without comments, and the hash it is called by.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './run.mjs'

const algorithms = ['bucket', 'fixed-window', 'sliding-window', 'sliding-log']

/** The content of packages/sluice/src/redis/script.generated.ts. */
export async function makeRedisScript() {
  const made = await Promise.all(algorithms.map(makerOf))
  const text = [await sourceOf('prelude'), ...made, await sourceOf('take-all')].join('')
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

/**
 * An algorithm's file as a function that makes its table, `make_bucket` of bucket.lua: the server runs the whole
 * script for each call, and functions that nobody asks for cost it time.
 * @param {string} name
 */
async function makerOf(name) {
  const table = name.replaceAll('-', '_')
  return `local function make_${table}()\n${await sourceOf(name)}return ${table}\nend\n`
}

/** A file without comments and indentation. @param {string} name */
async function sourceOf(name) {
  const file = join(root, `packages/sluice/src/redis/lua/${name}.lua`)
  const source = await readFile(file, 'utf8')
  const lines = source.split('\n').filter((line) => !/^\s*(--.*)?$/.test(line))
  return lines.map((line) => `${line.trim()}\n`).join('')
}
