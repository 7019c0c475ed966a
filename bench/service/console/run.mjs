// The console: how soon its page is painted, and what viewers cost: checks per CPU second with none and with 100 of them.
// `node bench/service/console/run.mjs [--viewers 100] [--rounds 12]`
import { get, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { findChromium } from '../../../scripts/test-programs.mjs'
import { pinToSecondCore } from '../../lib/cores.mjs'
import { median } from '../../lib/statistics.mjs'
import { loads } from '../loads.mjs'
import { measure } from '../measure.mjs'
import { startServer } from '../servers.mjs'

const { values: options } = parseArgs({
  options: {
    viewers: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '12' },
  },
})
const path = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url))
const TOKEN = 'the-token-of-a-benchmark-0123456789'
const SECONDS = 3
const PAINTS = 7
process.env['SLUICE_ADMIN_TOKEN'] = TOKEN
process.env['SLUICE_ADMIN_PORT'] = '18999'
const args = [path('../../../packages/cli/dist/main.js'), 'serve', path('../sluice.yaml')]
const server = await startServer(args, pinToSecondCore())
const admin = 'http://127.0.0.1:18999'
const cookie = await signIn()
const [load] = loads
if (load === undefined) throw new Error('there is no load')

const paints = await firstPaints()
console.log(
  `first paint of the signed-in page: median ${Math.round(median(paints))} ms, ${Math.round(Math.min(...paints))} to ${Math.round(Math.max(...paints))} ms over ${PAINTS} cold starts of the page`,
)

/** @type {Record<'none' | 'some', number[]>} */
const measured = { none: [], some: [] }
for (let round = 0; round < Number(options.rounds); round++) {
  for (const viewers of /** @type {const} */ (['none', 'some'])) {
    const streams = viewers === 'none' ? [] : await watch(Number(options.viewers))
    const { perCpuSecond } = await measure(server, load, SECONDS)
    measured[viewers].push(perCpuSecond)
    for (const stream of streams) stream.destroy()
    process.stderr.write(
      `${round + 1} ${viewers}: ${Math.round(perCpuSecond)} checks per CPU second\n`,
    )
  }
}
server.stop()
const [without, beside] = [median(measured.none), median(measured.some)]
console.log(
  `without viewers ${Math.round(without)}, with ${options.viewers} ${Math.round(beside)} checks per CPU second: ${((1 - beside / without) * 100).toFixed(1)} % less`,
)

const spread = (/** @type {number[]} */ all) =>
  `${Math.round(Math.min(...all))} to ${Math.round(Math.max(...all))}`
console.log(`spread: without ${spread(measured.none)}, with ${spread(measured.some)}`)

/** Milliseconds from navigation to the first paint of content, each in a browser context without a cache. */
async function firstPaints() {
  const browser = await chromium.launch({
    executablePath: findChromium() ?? '',
    args: ['--no-sandbox', '--disable-gpu'],
  })
  const [name = '', value = ''] = cookie.split('=')
  /** @type {number[]} */
  const found = []
  for (let i = 0; i < PAINTS; i++) {
    const context = await browser.newContext()
    await context.addCookies([{ name, value, url: admin }])
    const page = await context.newPage()
    await page.goto(admin)
    await page.getByRole('navigation').waitFor()
    found.push(
      Number(
        await page.evaluate(
          'performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN',
        ),
      ),
    )
    await context.close()
  }
  await browser.close()
  return found
}

/** @returns {Promise<string>} */
function signIn() {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'sluice-console': '1' }
    request(`${admin}/console/sign-in`, { method: 'POST', headers }, (response) => {
      response.resume()
      resolve(response.headers['set-cookie']?.[0]?.split(';')[0] ?? '')
    })
      .on('error', reject)
      .end(JSON.stringify({ token: TOKEN }))
  })
}

/** Opens live pages, and reads what they are sent. @param {number} count */
function watch(count) {
  return Promise.all(
    Array.from(
      { length: count },
      () =>
        /** @type {Promise<import('node:http').IncomingMessage>} */ (
          new Promise((resolve, reject) => {
            get(`${admin}/console/events`, { headers: { cookie } }, (response) => {
              response.resume()
              resolve(response)
            }).on('error', reject)
          })
        ),
    ),
  )
}
