// The playground in a real browser: every control, the address, a dropped log, no network, and readable by everyone.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { accessibilityProblems, openBrowser, openPage } from '../../../test/browser/browser.ts'
import { until } from '../../../test/servers/until.ts'
import { playgroundCommand, servePlayground } from '../src/commands/playground.ts'
import { replayCommand } from '../src/commands/replay.ts'
import { exampleLog } from './example-log.ts'
import { streamsWith } from './test-log.ts'

let server: Server
let browser: Browser
let home: string
const folder = mkdtempSync(join(tmpdir(), 'sluice-playground-'))

beforeAll(async () => {
  server = await servePlayground(0)
  home = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Opens the page with some settings, waits for its decisions, and holds it to its promises when it is closed. */
async function opened(fragment = '', options: BrowserContextOptions = {}) {
  const watched = await openPage(browser, `${home}#${fragment}`, options)
  await settled(watched.page)
  return {
    ...watched,
    close: async (): Promise<void> => {
      expect(watched.problems).toEqual([])
      expect([...watched.origins]).toEqual([new URL(home).origin])
      await watched.close()
    },
  }
}

/** Waits until the worker has answered the last change. */
async function settled(page: Page): Promise<void> {
  await page.locator('main[aria-busy=false] .lane').first().waitFor()
}

/** The table: for each algorithm, its numbers. */
function numbersOf(page: Page): Promise<Record<string, string[]>> {
  return page
    .locator('tbody tr')
    .evaluateAll((rows) =>
      Object.fromEntries(
        rows.map((row) => [
          row.querySelector('th')!.textContent,
          [...row.querySelectorAll('td')].map((cell) => cell.textContent),
        ]),
      ),
    )
}

/** Does something that changes the decisions, and gives the numbers before and after. */
async function changed(page: Page, act: () => Promise<unknown>) {
  const before = JSON.stringify(await numbersOf(page))
  await act()
  await until('the numbers change', 20_000, async () => {
    await settled(page)
    return JSON.stringify(await numbersOf(page)) !== before
  })
  return numbersOf(page)
}

describe('the playground', () => {
  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('is accessible and fits: %s, %i px', async (colorScheme, width) => {
    const { page, close } = await opened('traffic=drawn&keys=4', {
      colorScheme,
      viewport: { width, height: 844 },
    })
    expect(await accessibilityProblems(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    await close()
  })

  it('shows all six algorithms and a sentence', async () => {
    const { page, close } = await opened()
    expect(await page.locator('.lane').count()).toBe(6)
    expect(await page.locator('h1').textContent()).toMatch(/refuses the most .* the least/)
    await close()
  })

  it('changes every number by typing and by its slider', async () => {
    const { page, close } = await opened('traffic=poisson&rate=9&keys=3')
    for (const name of ['quota', 'window', 'burst', 'rate', 'lasts', 'keys', 'zipf', 'seed']) {
      const field = page.locator(`#${name}`)
      const before = Number(await field.inputValue())
      const slider = page.locator(`.field:has(#${name}) input[type=range]`)
      await slider.focus()
      await changed(page, async () => {
        for (let i = 0; i < 3; i++) await slider.press('PageUp')
      })
      expect(Number(await field.inputValue())).toBeGreaterThan(before)
      await changed(page, async () => {
        await field.fill(String(before))
        await field.press('Enter')
      })
    }
    await close()
  })

  it('has every kind of traffic', async () => {
    const { page, close } = await opened('traffic=steady&rate=7')
    for (const kind of [
      'poisson',
      'bursts',
      'edges',
      'crowd',
      'storm',
      'jitter',
      'herd',
      'drawn',
    ]) {
      const numbers = await changed(page, () => page.locator('#traffic').selectOption(kind))
      expect(Number(numbers['Token bucket']![0]!.replaceAll(',', ''))).toBeGreaterThan(10)
    }
    await close()
  })

  it('shows the window-edge attack: a fixed window lets twice the quota through', async () => {
    const { page, close } = await opened('traffic=edges')
    const numbers = await numbersOf(page)
    expect(Number(numbers['Fixed window']![5])).toBeGreaterThan(38)
    expect(numbers['Sliding log']![5]).toBe('20')
    await close()
  })

  it('draws traffic by keyboard and by pointer', async () => {
    const { page, close } = await opened('traffic=drawn&rate=20')
    const pad = page.locator('.pad svg')
    await changed(page, async () => {
      await pad.focus()
      for (let i = 0; i < 12; i++) await pad.press('ArrowUp')
    })
    await pad.press('End')
    await pad.scrollIntoViewIfNeeded()
    expect(await pad.getAttribute('aria-valuetext')).toMatch(/^at 58.5 s: /)
    const { x, y, width, height } = (await pad.boundingBox())!
    await changed(page, async () => {
      await page.mouse.move(x + 5, y + height - 5)
      await page.mouse.down()
      await page.mouse.move(x + width - 5, y + 5, { steps: 20 })
      await page.mouse.up()
    })
    await close()
  })

  it('leaves out algorithms, but never all', async () => {
    const { page, close } = await opened('algorithms=gcra,sliding-log')
    expect(Object.keys(await numbersOf(page))).toEqual(['GCRA', 'Sliding log'])
    await changed(page, () => page.getByRole('checkbox', { name: 'GCRA' }).uncheck())
    const last = page.getByRole('checkbox', { name: 'Sliding log' })
    await last.click()
    expect(Object.keys(await numbersOf(page))).toEqual(['Sliding log'])
    expect(await last.isChecked()).toBe(true)
    await close()
  })

  it('moves through time by slider, by pointer and by itself', async () => {
    const { page, close } = await opened()
    const now = (): Promise<string> => page.locator('.timebar output').innerText()
    await page.getByLabel('Time', { exact: true }).focus()
    await page.keyboard.press('Home')
    expect(await now()).toBe('0 ms')
    const canvas = page.locator('canvas').first()
    const { x, y, width } = (await canvas.boundingBox())!
    await page.mouse.click(x + width / 2, y + 20)
    expect(await now()).toBe('30 s')
    expect(await page.locator('.lane .now').first().innerText()).toMatch(/\d+ of 20 left/)
    await page.getByRole('button', { name: 'Play' }).click()
    await until('time passes', 20_000, async () => (await now()) !== '30 s')
    await page.getByRole('button', { name: 'Pause' }).click()
    await close()
  })

  it('has its whole state in the address', async () => {
    const { page, close } = await opened('traffic=poisson&rate=9')
    await changed(page, async () => {
      await page.locator('#quota').fill('7')
      await page.locator('#quota').press('Enter')
    })
    await page.waitForURL(/quota=7/)
    const numbers = await numbersOf(page)
    const again = await opened(new URL(page.url()).hash.slice(1))
    expect(await numbersOf(again.page)).toEqual(numbers)
    expect(await again.page.locator('#burst').inputValue()).toBe('7')
    await again.close()
    const other = await changed(page, () =>
      page.evaluate("location.hash = 'traffic=edges&quota=5'"),
    )
    expect(other).not.toEqual(numbers)
    await close()
  })

  it('works without a network', async () => {
    const { page, close } = await opened()
    await page.context().setOffline(true)
    const numbers = await changed(page, () => page.locator('#traffic').selectOption('edges'))
    expect(Object.keys(numbers)).toHaveLength(6)
    await page.locator('#log').setInputFiles({
      name: 'access.log',
      mimeType: 'text/plain',
      buffer: Buffer.from(exampleLog()),
    })
    await page.getByText('It has not left the page').waitFor()
    await close()
  })
})

describe('a log on the playground', () => {
  const log = exampleLog()

  /** What `sluice replay` says about the same log. */
  async function replayed(): Promise<readonly (readonly [string, string, string])[]> {
    const file = join(folder, 'access.log')
    writeFileSync(file, log)
    const streams = streamsWith()
    const flags = { try: '10/min', algorithm: 'all', json: true }
    await replayCommand([file], flags, streams)
    const { candidates, input } = JSON.parse(streams.out()) as {
      input: { requests: number }
      candidates: { limit: { algorithm: string }; refused: number; clientsHit: number }[]
    }
    return candidates.map(({ limit, refused, clientsHit }) => [
      limit.algorithm.replaceAll('-', ' '),
      `${input.requests.toLocaleString('en')} ${refused.toLocaleString('en')}`,
      clientsHit.toLocaleString('en'),
    ])
  }

  it.each([
    ['dropped', Buffer.from(log)],
    ['chosen', Buffer.from(log)],
    ['compressed', gzipSync(log)],
  ])('%s: is decided as sluice replay decides, and stays in the page', async (how, bytes) => {
    const { page, close } = await opened('quota=10&window=60&burst=10')
    if (how === 'dropped')
      await page.evaluate(
        `const files = new DataTransfer()
        files.items.add(new File([${JSON.stringify(log)}], 'access.log'))
        const options = { dataTransfer: files, bubbles: true, cancelable: true }
        document.body.dispatchEvent(new DragEvent('drop', options))`,
      )
    else
      await page
        .locator('#log')
        .setInputFiles({ name: 'access.log', mimeType: 'text/plain', buffer: bytes })
    await page.getByText('It has not left the page').waitFor()
    await page.waitForURL(/traffic=log/)
    await settled(page)
    const numbers = Object.entries(await numbersOf(page)).map(([name, cells]) => [
      name.toLowerCase(),
      `${cells[0]} ${cells[2]}`,
      cells[6],
    ])
    expect(numbers).toEqual(await replayed())
    await close()
  })

  it('says what is wrong with a file that is no log', async () => {
    const { page, close } = await opened()
    const buffer = Buffer.from('\u0000\u0001 nothing\nof a log\n'.repeat(200))
    await page.locator('#log').setInputFiles({ name: 'cat.jpg', mimeType: 'image/jpeg', buffer })
    await page.getByText('No line of cat.jpg could be read').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await close()
  })
})

describe('sluice playground', () => {
  it('serves until it is stopped, and says where', async () => {
    const streams = streamsWith()
    const ended = playgroundCommand({ port: '0' }, streams)
    await vi.waitFor(() => expect(streams.out()).toMatch(/^The playground is at http:\/\/127/))
    const [url] = /http:\S+/.exec(streams.out())!
    expect(await (await fetch(url)).text()).toContain('<title>Sluice playground</title>')
    streams.stop.abort()
    expect(await ended).toBe(0)
  })

  it.each([
    ['GET', '/', 'evil.example', 421],
    ['GET', '/etc/passwd', undefined, 404],
    ['POST', '/', undefined, 405],
    ['HEAD', '/', undefined, 200],
  ])('answers %s %s for host %s with %i', async (method, path, host, status) => {
    const answered = await new Promise<number | undefined>((resolve, reject) => {
      const headers = host === undefined ? {} : { host }
      request(new URL(path, home), { method, headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
    expect(answered).toBe(status)
  })

  it('names a wrong port', async () => {
    await expect(playgroundCommand({ port: 'x' }, streamsWith())).rejects.toThrow('--port is x')
    const { port } = server.address() as AddressInfo
    await expect(playgroundCommand({ port: String(port) }, streamsWith())).rejects.toThrow('in use')
  })
})
