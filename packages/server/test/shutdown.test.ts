// The end of the service: health first, then the ports, and no request that was taken goes unanswered.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../test/servers/until.ts'
import { startLoad } from './load.ts'
import { running } from './running.ts'

const policies = [{ name: 'api', rules: [{ name: 'all', by: ['key'], limit: '5/min' }] }]

test('a stop under load loses no response', async () => {
  const { url, stop } = await running({ policies })
  const load = startLoad(url, 32)
  await until('load runs', 5000, async () => load.result.answered > 500)
  await stop(300)
  const { faults, answered, refused } = await load.stop()
  expect(faults).toEqual([])
  expect(answered).toBeGreaterThan(500)
  expect(refused).toBeGreaterThan(0)
})

test('SIGTERM under load loses no response', async () => {
  const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))
  const args = [path('packages/cli/dist/main.js'), 'serve', path('examples/service/sluice.yaml')]
  const env = {
    ...process.env,
    REDIS_URL: '',
    SLUICE_HTTP_PORT: '0',
    SLUICE_SHUTDOWN_DELAY: '200ms',
  }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close')
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const url = await until('it listens', 20_000, async () => /http on (http:\S+)/.exec(printed)?.[1])
  const load = startLoad(url, 32)
  await until('load runs', 20_000, async () => load.result.answered > 500)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  const { faults, refused } = await load.stop()
  expect(faults).toEqual([])
  expect(refused).toBeGreaterThan(0)
})

test('health flips first, while requests are still answered', async () => {
  const { get, post, stop, url } = await running({ policies })
  let close = (): void => {}
  const stopping = stop(0, new Promise((resolve) => (close = resolve)))
  const ready = await fetch(`${url}/readyz`)
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'draining', generation: 1 }])
  expect((await get('/healthz')).status).toBe(200)
  expect((await post('/v1/check', { key: 'a' })).status).toBe(200)
  close()
  await stopping
  await expect(get('/healthz')).rejects.toThrow('fetch failed')
})

test('connections that wait for nothing do not hold it up', async () => {
  const { url, stop, get } = await running({ policies, shutdown: { patience: '2min' } })
  const { port } = new URL(url)
  const silent = connect(Number(port), '127.0.0.1')
  await new Promise((resolve) => silent.once('connect', resolve))
  // An idle connection of fetch's own pool.
  await get('/healthz')
  const ended = await Promise.race([
    stop().then(() => 'stopped'),
    pause(20_000, 'waits', { ref: false }),
  ])
  expect(ended).toBe('stopped')
  silent.destroy()
})

test('work that does not finish is cut off when patience ends', async () => {
  const { url, stop } = await running({ policies, shutdown: { patience: 200 } })
  const { port } = new URL(url)
  const slow = connect(Number(port), '127.0.0.1')
  slow.on('error', () => {})
  slow.write(
    'POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{',
  )
  const closed = new Promise((resolve) => slow.once('close', () => resolve('closed')))
  await until('the request has begun', 10_000, async () => slow.bytesWritten > 0)
  await stop()
  expect(await closed).toBe('closed')
})
