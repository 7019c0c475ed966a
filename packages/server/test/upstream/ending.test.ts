// The end of the reverse proxy: what has begun is finished, and nothing is waited for that will not come.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { startLoad } from '../load.ts'
import { behind, generous, isClosed, raw, upstreamOf, urlOf } from './behind.ts'

const slowly = (_: unknown, response: { end(text: string): void }): void =>
  void setTimeout(() => response.end('ok'), Math.random() * 20)

test('a stop under load loses no response', async () => {
  const { proxy, stop } = await behind(slowly)
  const load = startLoad(proxy, 32)
  await until('load runs', 10_000, async () => load.result.answered > 500)
  await stop(300)
  const { faults, refused } = await load.stop()
  expect(faults).toEqual([])
  expect(refused).toBeGreaterThan(0)
})

test('SIGTERM under load loses no response', async () => {
  const upstream = await upstreamOf(slowly)
  const file = join(tmpdir(), `sluice-proxy-${process.pid}.json`)
  writeFileSync(file, JSON.stringify(generous))
  onTestFinished(() => rmSync(file))
  const main = fileURLToPath(new URL('../../../cli/dist/main.js', import.meta.url))
  const env = {
    ...process.env,
    REDIS_URL: '',
    SLUICE_HTTP_PORT: '0',
    SLUICE_PROXY_PORT: '0',
    SLUICE_SHUTDOWN_DELAY: '200ms',
  }
  const args = [main, 'serve', file, '--upstream', urlOf(upstream)]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close')
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const url = await until(
    'it listens',
    20_000,
    async () => /proxy on (http:[^\s,]+)/.exec(printed)?.[1],
  )
  const load = startLoad(url, 32)
  await until('load runs', 20_000, async () => load.result.answered > 500)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  const { faults, refused } = await load.stop()
  expect(faults).toEqual([])
  expect(refused).toBeGreaterThan(0)
})

test('a long answer is finished, and then the connection ends without waiting for more', async () => {
  let finish = (): void => {}
  const answer: RequestListener = (_, response) => {
    response.write('begun')
    finish = () => response.end('done')
  }
  // Longer than the test may take, which must not wait for it.
  const { port, stop } = await behind(answer, {}, { ...generous, shutdown: { patience: '5min' } })
  const { until: untilText, closed } = raw(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await untilText('begun')
  const stopping = stop()
  await until('the port is closed', 10_000, () => isClosed(port))
  finish()
  expect(await closed).toContain('done')
  await stopping
})

test('a request that a leaky bucket holds back is answered', async () => {
  // Held for 5 s: on a busy machine it may take seconds until the metric is read and the stop begins.
  const limit = { algorithm: 'leaky-bucket', quota: 2, window: '10s', burst: 10 }
  const file = { policies: [{ name: 'a', rules: [{ name: 'a', by: [], limit }] }] }
  const { proxy, port, stop, figure } = await behind((_, response) => response.end('ok'), {}, file)
  await (await fetch(proxy)).text()
  const held = raw(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(
    'it is held',
    10_000,
    async () =>
      (await figure('sluice_decisions_total{policy="a",rule="a",result="allowed"}')) === 2,
  )
  const stopping = stop()
  expect(await held.closed).toMatch(/connection: close[\s\S]*ok/i)
  await stopping
})

test('a request that does not end is cut off when patience does', async () => {
  const file = { ...generous, shutdown: { patience: 300 } }
  let begun = 0
  const { port, stop } = await behind(() => begun++, {}, file)
  const { closed } = raw(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await until('it has begun', 10_000, async () => begun === 1)
  await stop()
  expect(await closed).toBe('')
})
