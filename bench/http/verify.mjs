// Whether each contender really limits and writes its fields, in a process of its own.
import { inputFromParent, reportToParent } from '../lib/child.mjs'
import { listenerOf } from './contenders.mjs'
import { serve } from './frameworks.mjs'

/** What is wrong, for each contender that does not limit. @param {{ contenders: { framework: string, name: string, kind: string }[], redis?: string }} input */
async function verify({ contenders, redis }) {
  const faults = []
  for (const { framework, name, kind } of contenders) {
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
    const expected = kind === 'bare' ? '200,200,200 false' : '200,200,429 true'
    const seen = `${statuses.join()} ${hasFields}`
    if (seen !== expected) faults.push(`${framework}, ${name}: ${seen}, not ${expected}`)
    server.closeAllConnections()
    server.close()
    // The next one counts the same address in the same Redis.
    if (redis !== undefined) await flush(redis)
  }
  return faults
}

/** @param {string} url */
async function flush(url) {
  const { Redis } = await import('ioredis')
  const client = new Redis(url)
  await client.flushall()
  client.disconnect()
}

reportToParent(await verify(inputFromParent()))
