// The report in a real browser: it opens from the disk, asks no network, and shows the numbers of the JSON.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, afterAll, describe, expect, it, vi } from 'vitest'
import { exampleLog } from './example-log.ts'
import { replayCommand } from '../src/commands/replay.ts'
import { streamsWith } from './test-log.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

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

let result: Shown
let page: { readonly dom: string; readonly log: string }
let sorted: string

/** The document after its scripts have run, and what the browser logged. */
async function opened(file: string): Promise<{ readonly dom: string; readonly log: string }> {
  const child = spawn('chromium', [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--enable-logging=stderr',
    `--user-data-dir=${mkdtempSync(join(folder, 'profile-'))}`,
    '--dump-dom',
    pathToFileURL(file).href,
  ])
  let [dom, log] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (dom += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { dom, log }
}

/** The rows of the n-th table, as the values that they sort by. */
function rowsOf(dom: string, table: number): string[][] {
  const body = [...dom.matchAll(/<tbody>([\s\S]*?)<\/tbody>/g)][table]![1]!
  return [...body.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, row]) =>
    [...row!.matchAll(/data-value="([^"]*)"/g)].map(([, value]) => value!),
  )
}

beforeAll(async () => {
  writeFileSync(join(folder, 'access.log'), exampleLog())
  const streams = streamsWith()
  const flags = { try: '10/min,30/min', algorithm: 'all', json: true, html: join(folder, 'r.html') }
  await replayCommand([join(folder, 'access.log')], flags, streams)
  result = JSON.parse(streams.out()) as Shown
  page = await opened(join(folder, 'r.html'))
  const click = '<script>document.querySelectorAll(".sorts th button")[2].click()</script></body>'
  const html = readFileSync(join(folder, 'r.html'), 'utf8').replace('</body>', click)
  writeFileSync(join(folder, 'clicked.html'), html)
  sorted = (await opened(join(folder, 'clicked.html'))).dom
})

describe('the report in a browser', () => {
  it('opens from the disk without an error, and loads nothing', () => {
    expect(page.dom).toContain('<h1>')
    expect(page.log).not.toMatch(/CONSOLE|Refused to|net::ERR/)
    expect(page.dom).not.toMatch(/(?:src|href)="(?!data:)/)
  })

  it('shows the sentence and the numbers of the JSON', () => {
    expect(page.dom).toContain(`<h1>${result.verdict}</h1>`)
    expect(page.dom).toContain(`<dd>${result.input.requests.toLocaleString('en')}<small>`)
    const rows = rowsOf(page.dom, 0).map((row) => [Number(row[2]), Number(row[4])])
    expect(rows).toEqual(result.candidates.map(({ refused, clientsHit }) => [refused, clientsHit]))
    const victims = rowsOf(page.dom, 1).map((row) => [row[0], Number(row[2])])
    expect(victims).toEqual(
      result.candidates.flatMap(({ victims }) =>
        victims.map(({ client, refused }) => [client, refused]),
      ),
    )
  })

  it('draws demand, peaks and two curves', () => {
    expect(page.dom.match(/<svg /g)).toHaveLength(2 + 2 * result.curves.length)
    for (const [picture] of page.dom.matchAll(/<svg [\s\S]*?<\/svg>/g))
      expect(picture).not.toContain('NaN')
  })

  it('sorts a table by a click on its head', () => {
    const refused = rowsOf(sorted, 0).map((row) => Number(row[2]))
    expect(refused).toEqual(refused.toSorted((a, b) => b - a))
    expect(refused).not.toEqual(result.candidates.map((one) => one.refused))
    expect(sorted).toContain('aria-sort="descending"')
  })
})
