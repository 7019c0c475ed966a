// Whether each contender really limits and writes its fields, in a process of its own.
import { inputFromParent, reportToParent } from '../lib/child.mjs'
import { listenerOf } from './contenders.mjs'
import { serve } from './frameworks.mjs'

/** A busy machine may answer later than a limiter waits for its store, which then counts by itself. */
const TRIES = 3

/** What is wrong, for each contender that does not limit. @param {{ contenders: { framework: string, name: string, kind: string }[], redis?: string }} input */
async function verify({ contenders, redis }) {
  const faults = []
  for (const { framework, name, kind } of contenders) {
    const expected = kind === 'bare' ? '200,200,200 false' : '200,200,429 true'
    let seen = ''
    for (let i = 0; i < TRIES && seen !== expected; i++) {
      // The contender before it counted the same address in the same Redis.
      if (redis !== undefined) await flush(redis)
      seen = await look(framework, name, redis)
    }
    if (seen !== expected) faults.push(`${framework}, ${name}: ${seen}, not ${expected}`)
  }
  return faults
}

/** The statuses of three requests where two are allowed, and whether there are fields. @param {string} framework @param {string} name @param {string | undefined} redis */
async function look(framework, name, redis) {
  const listener = await listenerOf(framework, name, { quota: 2, redis })
  const server = await serve(listener, '127.0.0.1')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const statuses = []
  let hasFields = false
  for (let i = 0; i < 3; i++) {
    const response = await fetch(`http://127.0.0.1:${port}/hello`)
    if (i === 0) hasFields = [...response.headers.keys()].some((key) => /ratelimit/i.test(key))
    statuses.push(response.status)
  }
  server.closeAllConnections()
  server.close()
  return `${statuses.join()} ${hasFields}`
}

/** @param {string} url */
async function flush(url) {
  const { Redis } = await import('ioredis')
  const client = new Redis(url)
  await client.flushall()
  client.disconnect()
}

reportToParent(await verify(inputFromParent()))
