// A real browser for the tests of pages: Debian's Chromium, driven by playwright-core.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { findChromium } from '../../scripts/test-programs.mjs'

/** A page with a record of what it did: it may ask no other host, and log no error. */
export interface WatchedPage {
  readonly page: Page
  /** Errors and warnings of the console, uncaught errors, and failed requests; one sentence each. */
  readonly problems: readonly string[]
  /** The origins that the page sent requests to; `data:` and `blob:` are no requests. */
  readonly origins: ReadonlySet<string>
  close(): Promise<void>
}

/** Starts Chromium without a window. Call `close()` at the end of the test file. */
export function openBrowser(): Promise<Browser> {
  // Containers run the tests as root, where Chromium's sandbox refuses to start.
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
  return chromium.launch({ executablePath: chromiumPath(), args, headless: true })
}

/** Opens an address in a context of its own: no cookies and no storage of other tests. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  const problems: string[] = []
  const origins = new Set<string>()
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('requestfailed', (request) => {
    problems.push(`${request.url()}: ${request.failure()?.errorText ?? 'failed'}`)
  })
  context.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol !== 'data:' && protocol !== 'blob:') origins.add(origin)
  })
  await page.goto(url)
  return { page, problems, origins, close: () => context.close() }
}

/** What axe-core finds wrong with a page, one sentence per rule and element; empty if it is accessible. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'))
  // Evaluated by the debugger, which a Content-Security-Policy of the page does not forbid.
  await page.evaluate(source.toString('utf8'))
  const { violations } = (await page.evaluate('axe.run()')) as AxeResults
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary}`,
    ),
  )
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly target: string[]; readonly failureSummary: string }[]
  }[]
}

function chromiumPath(): string {
  const path = findChromium()
  if (path === undefined)
    throw new Error('the tests need chromium-headless-shell or chromium on the PATH')
  return path
}
