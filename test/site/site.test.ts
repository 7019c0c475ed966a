// The documentation site, built and opened in a real browser. It takes minutes: only `npm run test:long` runs it.
import { spawnSync } from 'node:child_process'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openBrowser, openPage } from '../browser/browser.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 })

const root = fileURLToPath(new URL('../../', import.meta.url))
const dist = `${root}site/dist`
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
}

let server: Server
let browser: Browser
let url: string

beforeAll(async () => {
  const { status } = spawnSync('npm', ['run', 'docs:build'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error('the site cannot be built; see the lines above')
  server = createServer(({ url: path = '/' }, response) => {
    const file = fileAt(decodeURIComponent(path.split('?')[0]!))
    if (file === undefined) {
      response.writeHead(404).end()
      return
    }
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream')
    createReadStream(file).pipe(response)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
  server.close()
})

function fileAt(path: string): string | undefined {
  const candidates = [path, `${path}.html`, `${path}index.html`, `${path}/index.html`]
  return candidates
    .map((candidate) => `${dist}${candidate}`)
    .find((file) => !file.includes('..') && existsSync(file) && statSync(file).isFile())
}

it('has the schemas at an address for editors', async () => {
  for (const name of ['config', 'policy']) {
    const response = await fetch(`${url}/schema/${name}.schema.json`)
    expect(response.status).toBe(200)
    expect(await response.json()).toHaveProperty('$schema')
  }
})

async function open(path: string) {
  const watched = await openPage(browser, `${url}${path}`)
  onTestFinished(() => watched.close())
  return watched
}

describe('the documentation site', () => {
  it.each(['trust proxy', '429', 'Retry-After', 'jitter', 'Next.js', 'migrate'])(
    'finds %j',
    async (words) => {
      const { page, problems, origins } = await open('/docs/')
      // The button works once the page has come alive.
      await page.waitForLoadState('networkidle')
      await page.locator('#local-search button').first().click()
      await page.locator('.VPLocalSearchBox input').fill(words)
      await page.locator('.VPLocalSearchBox .result').first().waitFor()
      expect(problems).toEqual([])
      expect([...origins]).toEqual([url])
    },
  )

  it('runs the library on the page of every algorithm', async () => {
    const { page, problems } = await open('/docs/reference/algorithms/fixed-window')
    await page.getByText('20 admitted').waitFor()
    await page.getByRole('slider').fill('5')
    await page.getByText('10 admitted').waitFor()
    expect(problems).toEqual([])
  })

  it('converts the configuration of another limiter in the page', async () => {
    const { page, problems, origins } = await open('/docs/guide/coming-from/express-rate-limit')
    await page.getByText('quota: 100').first().waitFor()
    await page
      .getByLabel('Paste yours.')
      .fill("import { rateLimit } from 'express-rate-limit'\nrateLimit({ windowMs: 1000, max: 7 })")
    await page.getByText('quota: 7').first().waitFor()
    await page.getByLabel('Paste yours.').fill('nothing')
    await page.getByRole('alert').getByText('No limit of express-rate-limit').waitFor()
    expect(problems).toEqual([])
    expect([...origins]).toEqual([url])
  })

  it('has the API, the configuration and a list for language models', async () => {
    for (const path of [
      '/docs/reference/api/',
      '/docs/reference/openapi',
      '/docs/reference/openapi-admin',
      '/docs/reference/configuration',
      '/llms.txt',
    ])
      expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200])
  })

  it('carries the playground', async () => {
    const { page, problems } = await open('/playground/index.html')
    await page.locator('h1').first().waitFor()
    expect(problems).toEqual([])
  })
})
