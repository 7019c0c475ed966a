// Thousands of connections that say nothing and two hundred that say it slowly: others are answered all the same.
import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { lengthOf } from '../../../test/length.ts'
import { until } from '../../../test/servers/until.ts'
import { running } from './running.ts'
import { upstreamOf, urlOf } from './upstream/behind.ts'

/** Each end of a connection is an open file of its process. */
const FILES = Number(
  (process.report.getReport() as { userLimits: { open_files: { soft: number | string } } })
    .userLimits.open_files.soft,
)
const IDLE = Math.min(lengthOf(2000, 10_000), (FILES || Infinity) - 1000)
const SLOW = 200
/** How long headers may take; clients that have sent none by then are cut off. */
const PATIENCE = lengthOf(3000, 8000)
const policies = [{ name: 'api', rules: [{ name: 'all', by: ['key'], limit: '1000000/h' }] }]

interface Crowd {
  readonly open: () => number
  readonly closed: () => number
}

function crowdAt(port: number): Crowd {
  const path = fileURLToPath(new URL('crowd.mjs', import.meta.url))
  const child = spawn(process.execPath, [path, String(port), String(IDLE), String(SLOW)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (data: string) => (text += data))
  const last = (word: string) =>
    Number([...text.matchAll(new RegExp(`^${word} (\\d+)$`, 'gm'))].at(-1)?.[1] ?? 0)
  return { open: () => last('open'), closed: () => last('closed') }
}

/** Milliseconds until the whole answer is there. */
function timed(url: string, agent: Agent, body?: string): Promise<number> {
  const start = performance.now()
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const sent = request(url, { agent, headers, method: body ? 'POST' : 'GET' }, (response) => {
      response.resume()
      response.on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - start)
        else reject(new Error(String(response.statusCode)))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function waits(url: string, body?: string): Promise<{ p50: number; p99: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const times: number[] = []
  for (let i = 0; i < 150; i++)
    times.push(...(await Promise.all([1, 2, 3, 4].map(() => timed(url, agent, body)))))
  agent.destroy()
  times.sort((a, b) => a - b)
  const at = (part: number) => Math.round(times[Math.floor(times.length * part)]! * 100) / 100
  return { p50: at(0.5), p99: at(0.99) }
}

test.each(['http', 'proxy'])('at the %s listener', async (listener) => {
  const upstream = urlOf(await upstreamOf((_, response) => response.end('ok')))
  const limits = { port: 0, headersTimeout: PATIENCE }
  const service = await running({
    policies,
    listeners: { http: limits, proxy: { ...limits, upstream } },
  })
  const { url } = service.listeners.find(({ name }) => name === listener)!
  const ask = () =>
    listener === 'http' ? waits(`${url}/v1/check`, '{"key":"a"}') : waits(`${url}/`)
  const alone = await ask()
  const crowd = crowdAt(Number(new URL(url).port))
  await until('all are there', 60_000, async () => crowd.open() > 0)
  const opened = performance.now()
  // Some may be cut off while the last are still coming, on a slow machine.
  expect(crowd.open()).toBe(IDLE + SLOW)
  const among = await ask()
  console.log(
    `${listener}: alone ${JSON.stringify(alone)} ms, among ${IDLE + SLOW} ${JSON.stringify(among)} ms`,
  )
  // Generous, for machines that do much else at the same time.
  expect(among.p99).toBeLessThan(5000)
  await until('all are cut off', 60_000, async () => crowd.closed() === IDLE + SLOW)
  const since = performance.now() - opened
  expect(since).toBeLessThan(PATIENCE + 10_000)
  console.log(`${listener}: the last was cut off ${Math.round(since)} ms after it came`)
  expect((await ask()).p99).toBeLessThan(5000)
})

test.each(['http', 'proxy'])(
  'a client that asks %s and never reads is cut off too',
  async (listener) => {
    const upstream = urlOf(await upstreamOf((_, response) => response.end('x'.repeat(10_000))))
    const service = await running({
      policies,
      listeners: {
        http: { port: 0, idleTimeout: 2000 },
        proxy: { port: 0, upstream, idleTimeout: 2000, timeout: 2000 },
      },
    })
    const { url } = service.listeners.find(({ name }) => name === listener)!
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    let isCut = false
    socket.on('error', () => (isCut = true))
    socket.pause()
    // More answers than the buffers of both systems hold.
    socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2000))
    await until('it is cut off', 60_000, async () => {
      // Who does not read learns of the end by writing.
      socket.write('x')
      return isCut
    })
    expect(socket.bytesRead).toBe(0)
  },
)
