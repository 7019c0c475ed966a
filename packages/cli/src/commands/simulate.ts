// `sluice simulate`: runs the scenario of a file on the simulator, and prints or writes the result.
import { writeFile } from 'node:fs/promises'
import { SluiceError } from 'sluice'
import { simulate, type SimulationResult } from 'sluice/simulator'
import { simulationReport } from '../report/simulation-report.ts'
import { printedSimulation } from '../simulate/print.ts'
import { readScenarioFile, type ScenarioFlags } from '../simulate/scenario-file.ts'
import { simulationVerdict, type SimulationReport } from '../simulate/simulation.ts'
import { Mistake } from '../terminal/mistake.ts'
import { readText } from '../terminal/read-text.ts'
import { columnsOf, print, type Streams } from '../terminal/streams.ts'

/** The flags of the command. */
export interface SimulateFlags extends ScenarioFlags {
  readonly json?: boolean
  readonly html?: string
}

/** Simulates and returns the exit code: 0, or 1 if a bound of a mode was broken. Rejects with {@link Mistake}. */
export async function simulateCommand(
  file: string,
  flags: SimulateFlags,
  { stdout, stderr, signal }: Streams,
): Promise<number> {
  const { name, about, runs } = readScenarioFile(file, await readText(file), flags)
  const results: SimulationResult[] = []
  for (const [i, scenario] of runs.entries()) {
    if (signal.aborted) break
    if (stderr.isTTY === true) stderr.write(`\r${i + 1} of ${runs.length}\u001b[K`)
    results.push(await simulated(file, scenario))
  }
  if (stderr.isTTY === true) stderr.write('\r\u001b[K')
  const report: SimulationReport = {
    name,
    about,
    verdict: simulationVerdict(results),
    runs: results,
  }
  if (flags.html !== undefined) await writeFile(flags.html, simulationReport(report))
  if (flags.json === true) print(stdout, JSON.stringify(report, undefined, 2))
  else for (const line of printedSimulation(report, columnsOf(stdout))) print(stdout, line)
  if (flags.html !== undefined) print(stderr, `The report is in ${flags.html}.`)
  if (signal.aborted) return 130
  return results.every(({ bounds }) => bounds.every(({ holds }) => holds)) ? 0 : 1
}

async function simulated(
  file: string,
  scenario: Parameters<typeof simulate>[0],
): Promise<SimulationResult> {
  try {
    return await simulate(scenario)
  } catch (error) {
    if (error instanceof SluiceError) throw new Mistake(`${file}: ${error.message}`)
    throw error
  }
}
