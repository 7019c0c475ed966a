// Makes the Redis scripts from the Lua files and the table of algorithms, without comments, and the hashes that call them.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { importSource } from './library-sources.mjs'
import { root } from './run.mjs'

/** The content of packages/sluice/src/redis/script.generated.ts. */
export async function makeRedisScript() {
  const { ROWS: rows } = await importSource('src/algorithms/table')
  const files = new Map(rows.map((/** @type {Row} */ row) => [row.lua, row]))
  const made = await Promise.all([...files.values()].map(makerOf))
  const makers = `local makers = { ${rows.map((/** @type {Row} */ { lua }) => `make_${tableOf(lua)}`).join(', ')} }\n`
  const holds = `local function make_holds()\n${await sourceOf('holds')}return holds\nend\n`
  const kinds = `local kinds = { ${rows.map((/** @type {Row} */ { lua }) => kindOf(lua)).join(', ')} }\n`
  const text = [
    await sourceOf('hold-each'),
    await sourceOf('prelude'),
    await sourceOf('call'),
    kinds,
    await sourceOf('take-holds'),
    await sourceOf('learning'),
    await sourceOf('take-leases'),
    ...made,
    makers,
    holds,
    await sourceOf('take-all'),
  ].join('')
  return [
    '// Generated from redis/lua and algorithms/table.ts by `npm run generate`. Do not edit.',
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
    '/** Decides plain takes of one check each, all by one limit, at the least cost. */',
    `export const TAKE_EACH: Script = ${scriptOf(await sourceOf('take-each'))}`,
    '',
  ].join('\n')
}

/** @param {string} text */
function scriptOf(text) {
  const hash = createHash('sha1').update(text).digest('hex')
  return `{\n  text: ${JSON.stringify(text)},\n  hash: '${hash}',\n}`
}

/** @typedef {{ lua: string, words: number, hasBurst: boolean, isAligned: boolean }} Row a row of the table of algorithms */

/**
 * An algorithm's file as a function that makes its table, `make_bucket` of bucket.lua: the server runs the whole
 * script for each call, and making the functions of algorithms that no check uses would cost it time.
 * @param {Row} row
 */
async function makerOf({ lua, words, hasBurst, isAligned }) {
  const table = tableOf(lua)
  const facts = [`words = ${words}`, `has_burst = ${hasBurst}`, `is_aligned = ${isAligned}`]
    .map((fact) => `${table}.${fact}\n`)
    .join('')
  return `local function make_${table}()\n${await sourceOf(lua)}${facts}return ${table}\nend\n`
}

/** How take-holds.lua counts: 0 where it does not. @param {string} lua */
function kindOf(lua) {
  return ['bucket', 'fixed-window', 'calendar-window'].indexOf(lua) + 1
}

/** The name of the table that a Lua file makes. @param {string} lua */
function tableOf(lua) {
  return lua.replaceAll('-', '_')
}

/** A file without comments and indentation. @param {string} name */
async function sourceOf(name) {
  const file = join(root, `packages/sluice/src/redis/lua/${name}.lua`)
  const source = await readFile(file, 'utf8')
  const lines = source.split('\n').filter((line) => !/^\s*(--.*)?$/.test(line))
  return lines.map((line) => `${line.trim()}\n`).join('')
}
