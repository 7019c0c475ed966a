// Makes the Redis scripts of the library from its Lua files, without comments, and the hashes they are called by.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './run.mjs'

const algorithms = ['bucket', 'fixed-window', 'sliding-window', 'sliding-log']

/** The content of packages/sluice/src/redis/script.generated.ts. */
export async function makeRedisScript() {
  const made = await Promise.all(algorithms.map(makerOf))
  const text = [await sourceOf('prelude'), ...made, await sourceOf('take-all')].join('')
  return [
    '// Generated from redis/lua by `npm run generate`. Do not edit.',
    '',
    '/** A script, and its SHA-1, by which EVALSHA calls it. */',
    'export interface Script {',
    '  readonly text: string',
    '  readonly hash: string',
    '}',
    '',
    '/** Decides everything. */',
    `export const TAKE_ALL: Script = ${scriptOf(text)}`,
    '',
    '/** Decides plain takes from buckets, at less cost. */',
    `export const TAKE_BUCKETS: Script = ${scriptOf(await sourceOf('take-buckets'))}`,
    '',
  ].join('\n')
}

/** @param {string} text */
function scriptOf(text) {
  const hash = createHash('sha1').update(text).digest('hex')
  return `{\n  text: ${JSON.stringify(text)},\n  hash: '${hash}',\n}`
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
