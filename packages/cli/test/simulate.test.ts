// `sluice simulate`: every scenario of the documentation runs, and shows what its text says.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { SimulationResult } from 'sluice/simulator'
import { afterAll, describe, expect, it } from 'vitest'
import { accessibilityProblems, openBrowser, openPage } from '../../../test/browser/browser.ts'
import { simulationReport } from '../src/report/simulation-report.ts'
import { printedSimulation } from '../src/simulate/print.ts'
import { simulateCommand, type SimulateFlags } from '../src/commands/simulate.ts'
import type { SimulationReport } from '../src/simulate/simulation.ts'
import { streamsWith } from './test-log.ts'

const scenarios = fileURLToPath(new URL('../../../examples/scenarios/', import.meta.url))
const names = readdirSync(scenarios).map((file) => file.replace('.yaml', ''))
const folder = mkdtempSync(join(tmpdir(), 'sluice-simulate-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a scenario of the documentation, or the text of one. */
async function run(nameOrText: string, flags: SimulateFlags = {}) {
  let file = `${scenarios}${nameOrText}.yaml`
  if (nameOrText.includes('\n')) writeFileSync((file = join(folder, 'own.yaml')), nameOrText)
  const streams = streamsWith()
  const code = await simulateCommand(file, flags, streams)
  return { code, out: streams.out() }
}

const reports = new Map<string, Promise<SimulationReport>>()

/** The report of a scenario of the documentation; each runs once. */
function reportOf(name: string): Promise<SimulationReport> {
  const made =
    reports.get(name) ??
    run(name, { json: true }).then(({ code, out }) => {
      if (code !== 0) throw new Error(`${name} ended with exit code ${code}`)
      return JSON.parse(out) as SimulationReport
    })
  reports.set(name, made)
  return made
}

async function runsOf(name: string): Promise<Record<string, SimulationResult>> {
  const { runs } = await reportOf(name)
  return Object.fromEntries(runs.map((one) => [`${one.mode} ${one.limit.algorithm}`, one]))
}

describe('the scenarios of the documentation', () => {
  it.each(names)('%s runs, keeps every bound and prints a table', async (name) => {
    const out = printedSimulation(await reportOf(name), 100).join('\n')
    expect(out).toMatch(/^RUN +allowed +refused/m)
    expect(out).not.toMatch(/NaN|undefined|Infinity/)
  })

  it('window-edge: a fixed window lets nearly twice the quota through at an edge', async () => {
    const runs = await runsOf('window-edge')
    expect(runs['strict fixed-window']!.peak).toBeGreaterThan(190)
    expect(runs['strict sliding-log']!.peak).toBe(100)
    expect(runs['strict token-bucket']!.peak).toBe(100)
  })

  it('nat: the office is refused, people are not', async () => {
    const { 'strict token-bucket': run } = await runsOf('nat')
    expect(run!.keys.worst.map(({ key }) => key)).toEqual(['office'])
  })

  it('retry-storm: jitter gets more clients through, with fewer requests', async () => {
    const plain = (await runsOf('retry-storm'))['strict token-bucket']!
    const jitter = (await runsOf('retry-storm-jitter'))['strict token-bucket']!
    expect(jitter.allowed).toBeGreaterThan(1.5 * plain.allowed)
    expect(jitter.decisions).toBeLessThan(plain.decisions)
  })

  it('thundering-herd: jitter flattens the peak at the reset', async () => {
    const peak = ({ timeline }: SimulationResult): number => Math.max(...timeline.demand.slice(30))
    const plain = (await runsOf('thundering-herd'))['strict fixed-window']!
    const jitter = (await runsOf('thundering-herd-jitter'))['strict fixed-window']!
    expect(peak(jitter)).toBeLessThan(peak(plain) / 5)
  })

  it('fleet: counters per pod exceed the limit, the shared store does not', async () => {
    const runs = await runsOf('fleet')
    expect(runs['per-pod token-bucket']!.excess).toBeGreaterThan(1000)
    expect(runs['strict token-bucket']!.excess).toBe(0)
    expect(runs['local token-bucket']!.excess).toBe(0)
  })

  it('outage: the fallback answers meanwhile', async () => {
    const { 'strict token-bucket': run } = await runsOf('outage')
    expect(run!.bySource.fallback).toBeGreaterThan(3000)
    expect(run!.bounds.every(({ holds }) => holds)).toBe(true)
  })
})

describe('flags and mistakes', () => {
  const text = 'lasts: 10s\nlimit: 10/s\ntraffic: [{ shape: steady, rate: 20/s }]\n'

  it('flags replace what the file says', async () => {
    const flags = { mode: 'local', algorithm: 'gcra,sliding-log', pods: '3', seed: '9', json: true }
    const { runs } = JSON.parse((await run(text, flags)).out) as SimulationReport
    expect(runs.map(({ mode, limit, pods, seed }) => [mode, limit.algorithm, pods, seed])).toEqual([
      ['local', 'gcra', 3, 9],
      ['local', 'sliding-log', 3, 9],
    ])
  })

  it.each([
    ['limit: 10/s\ntraffic: []\n', {}, 'scenario: lasts is undefined'],
    [`${text}pots: 3\n`, {}, 'did you mean pods'],
    [text.replace('steady', 'wavy'), {}, 'scenario.traffic[0]: shape is "wavy"'],
    [text.replace('10/s', 'ten'), {}, 'limit "ten"'],
    [`${text}compare: { mode: all }\n`, {}, 'compare.mode; accepted: algorithms, modes'],
    [text, { mode: 'lose' }, '--mode has lose; accepted: strict'],
    [text, { pods: 'many' }, '--pods is many'],
    ['a: [\n', {}, 'own.yaml'],
    ['- 1\n', {}, 'a scenario with lasts, limit and traffic'],
  ])('names what is wrong: %j %j', async (wrong, flags, message) => {
    await expect(run(wrong, flags)).rejects.toThrow(message)
  })
})

describe('the report in a browser', () => {
  it('opens from the disk, is accessible, and has the numbers of the JSON', async () => {
    const html = join(folder, 'report.html')
    const report = await reportOf('fleet')
    writeFileSync(html, simulationReport(report))
    const browser = await openBrowser()
    const { page, problems, origins } = await openPage(browser, pathToFileURL(html).href)
    expect(await page.locator('h1').textContent()).toBe(report.verdict)
    const rows = await page
      .locator('table')
      .first()
      .locator('tbody tr')
      .evaluateAll((all) =>
        all.map((row) =>
          [...row.querySelectorAll('[data-value]')].map((cell) => cell.getAttribute('data-value')),
        ),
      )
    expect(rows).toEqual(
      report.runs.map((one) =>
        [
          one.mode,
          one.limit.algorithm,
          one.allowed,
          one.refused,
          one.refused / one.decisions,
          one.ideal,
          one.peak,
          one.excess,
          one.storeCallsPerDecision,
          one.latency.p50,
          one.latency.p99,
        ].map(String),
      ),
    )
    expect(await accessibilityProblems(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await accessibilityProblems(page)).toEqual([])
    expect(problems).toEqual([])
    expect([...origins]).toEqual(['null'])
    expect(await page.locator('svg').count()).toBe(2)
    expect(await page.locator('figure').first().innerHTML()).not.toContain('NaN')
    await browser.close()
  })
})
