// Runs the example as its readers do: in a process of its own, on the built library, against a limited server.
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createLimiter } from 'sluice'
import { expect, test } from 'vitest'

const folder = fileURLToPath(new URL('.', import.meta.url))

test('every request is answered with 200, at a server that allows 20 in a second', async () => {
  const limiter = createLimiter({ limit: { quota: 20, window: '1s', burst: 2 } })
  const server = createServer((_, response) => {
    const { allowed, retryAfter } = limiter.check('client')
    const seconds = Math.ceil((retryAfter ?? 0) / 1000)
    response.writeHead(allowed ? 200 : 429, allowed ? {} : { 'retry-after': String(seconds) }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const args = ['client.js', `http://127.0.0.1:${port}`, '30']
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder })
  server.close()
  server.closeAllConnections()
  limiter.close()
  expect(stdout.match(/^request \d+: 200$/gm)).toHaveLength(30)
})
