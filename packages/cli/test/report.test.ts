// The report in a real browser: it opens from the disk, asks no network, and shows the numbers of the JSON.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { beforeAll, afterAll, describe, expect, it } from 'vitest'
import { accessibilityProblems, openBrowser, openPage } from '../../../test/browser/browser.ts'
import type { WatchedPage } from '../../../test/browser/browser.ts'
import { exampleLog } from './example-log.ts'
import { replayCommand } from '../src/commands/replay.ts'
import { streamsWith } from './test-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
const file = join(folder, 'r.html')

/** The parts of `--json` that the page shows. */
interface Shown {
  readonly verdict: string
  readonly input: { readonly requests: number }
  readonly candidates: readonly {
    readonly refused: number
    readonly clientsHit: number
    readonly victims: readonly { readonly client: string; readonly refused: number }[]
  }[]
  readonly curves: readonly object[]
}

let browser: Browser
let result: Shown
let opened: WatchedPage

/** The rows of the n-th table, as the values that they sort by. */
function rowsOf(table: number): Promise<string[][]> {
  return opened.page
    .locator('table')
    .nth(table)
    .locator('tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.querySelectorAll('[data-value]')].map((cell) => cell.getAttribute('data-value')!),
      ),
    )
}

beforeAll(async () => {
  writeFileSync(join(folder, 'access.log'), exampleLog())
  const streams = streamsWith()
  const flags = { try: '10/min,30/min', algorithm: 'all', json: true, html: file }
  await replayCommand([join(folder, 'access.log')], flags, streams)
  result = JSON.parse(streams.out()) as Shown
  browser = await openBrowser()
  opened = await openPage(browser, pathToFileURL(file).href)
})
afterAll(async () => {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('the report in a browser', () => {
  it('opens from the disk without an error, and loads nothing', () => {
    expect(opened.problems).toEqual([])
    expect([...opened.origins]).toEqual(['null'])
  })

  it('shows the sentence and the numbers of the JSON', async () => {
    const { page } = opened
    expect(await page.locator('h1').textContent()).toBe(result.verdict)
    expect(await page.locator('dd').allTextContents()).toContainEqual(
      expect.stringContaining(result.input.requests.toLocaleString('en')),
    )
    const rows = (await rowsOf(0)).map((row) => [Number(row[2]), Number(row[4])])
    expect(rows).toEqual(result.candidates.map(({ refused, clientsHit }) => [refused, clientsHit]))
    const victims = (await rowsOf(1)).map((row) => [row[0], Number(row[2])])
    expect(victims).toEqual(
      result.candidates.flatMap(({ victims }) =>
        victims.map(({ client, refused }) => [client, refused]),
      ),
    )
  })

  it('draws demand, peaks and two curves', async () => {
    const pictures = await opened.page
      .locator('svg')
      .evaluateAll((all) => all.map((picture) => picture.outerHTML))
    expect(pictures).toHaveLength(2 + 2 * result.curves.length)
    expect(pictures.join()).not.toContain('NaN')
  })

  it('sorts a table by a click on its head', async () => {
    const head = opened.page.locator('table').first().locator('th button').nth(2)
    await head.click()
    const refused = (await rowsOf(0)).map((row) => Number(row[2]))
    expect(refused).toEqual(refused.toSorted((a, b) => b - a))
    expect(refused).not.toEqual(result.candidates.map((one) => one.refused))
    expect(await opened.page.locator('th[aria-sort="descending"]').count()).toBe(1)
  })

  it.each(['light', 'dark'] as const)('is accessible in %s colours', async (colorScheme) => {
    await opened.page.emulateMedia({ colorScheme })
    expect(await accessibilityProblems(opened.page)).toEqual([])
  })

  it('fits a screen of 390 px', async () => {
    const phone = await openPage(browser, pathToFileURL(file).href, {
      viewport: { width: 390, height: 844 },
    })
    const width = await phone.page.evaluate('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(390)
    expect(await accessibilityProblems(phone.page)).toEqual([])
    await phone.close()
  })
})
