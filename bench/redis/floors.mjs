// What it costs at least: a minimal script through ioredis, one call each or gathered by turn.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ioredis } from './clients.mjs'

/** @typedef {import('./contenders.mjs').Settings} Settings */
/** @typedef {import('./contenders.mjs').Subject<string>} Subject */

const LARGEST_BATCH = 64

export const script = readFileSync(new URL('./minimal.lua', import.meta.url), 'utf8')
export const hash = createHash('sha1').update(script).digest('hex')

/** The script's arguments. @param {Settings} settings */
export const argsOf = ({ burst, quota, window }) => [`${burst}`, `${window / quota}`]

/** @param {Settings} settings @returns {Promise<Subject>} */
export async function oneEach(settings) {
  const client = await ioredis(settings.url)
  await client.script('LOAD', script)
  const args = argsOf(settings)
  return {
    async decide(key) {
      const answers = await client.evalsha(hash, 1, key, ...args)
      return /** @type {number[]} */ (answers)[0] === 1
    },
  }
}

/** Gathered by turn, one count for each decision. @param {Settings} settings */
export const batched = (settings) => gathered(settings, (key) => [key])

/** The same with three counts for each decision, which is then allowed by all of them. @param {Settings} settings */
export const batchedThree = (settings) =>
  gathered(settings, (key) => [key, `${key}:address`, `${key}:route`])

/** @param {Settings} settings @param {(key: string) => readonly string[]} countsOf @returns {Promise<Subject>} */
async function gathered(settings, countsOf) {
  const client = await ioredis(settings.url)
  await client.script('LOAD', script)
  const args = argsOf(settings)
  const each = countsOf('').length
  const most = Math.floor(LARGEST_BATCH / each)
  /** @typedef {{ key: string, resolve: (allowed: boolean) => void, reject: (error: unknown) => void }} Waiting */
  /** @type {Waiting[]} */
  let queue = []

  async function send(/** @type {Waiting[]} */ waiting) {
    try {
      const keys = waiting.flatMap(({ key }) => countsOf(key))
      const answers = /** @type {number[]} */ (
        await client.evalsha(hash, keys.length, ...keys, ...args)
      )
      for (const [i, { resolve }] of waiting.entries()) {
        let allowed = true
        for (let j = i * each; j < (i + 1) * each; j++) if (answers[j] !== 1) allowed = false
        resolve(allowed)
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }
  function flush() {
    const waiting = queue
    queue = []
    for (let i = 0; i < waiting.length; i += most) void send(waiting.slice(i, i + most))
  }
  return {
    decide: (key) =>
      new Promise((resolve, reject) => {
        if (queue.push({ key, resolve, reject }) === 1) setImmediate(flush)
      }),
  }
}
