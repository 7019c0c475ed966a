// Plays seeds by compiled code, which takes less than half the time of the modules of a test.
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compileProgram, type Program } from '../../../../test/compile.ts'
import type { Run } from './run.ts'

/** SLUICE_SIMULATION_SEED plays one seed and shows it, SLUICE_SIMULATION_SEEDS that many. */
const ALONE = process.env['SLUICE_SIMULATION_SEED']
const SEEDS = Number(process.env['SLUICE_SIMULATION_SEEDS'] ?? 10_000)
const PARTS = 20

/** The seeds from one to another. */
const parts = Array.from({ length: PARTS }, (_, i) => {
  const size = Math.ceil(SEEDS / PARTS)
  return [i * size + 1, (i + 1) * size] as const
})

/** Compiles the simulation for the tests of a file. Returns what plays a seed. */
export function compiledRun(): (seed: number) => Promise<Run> {
  let program: Program
  let run: (seed: number) => Promise<Run>
  // Most errors of a simulation are expected, and their stacks are an eighth of its cost.
  const { stackTraceLimit } = Error
  beforeAll(async () => {
    program = await compileProgram('packages/sluice/test/simulation/run.ts')
    ;({ run } = (await import(pathToFileURL(program.script).href)) as typeof import('./run.ts'))
    Error.stackTraceLimit = 0
  })
  afterAll(() => {
    Error.stackTraceLimit = stackTraceLimit
    program.remove()
  })
  return (seed) => run(seed)
}

/** Tests one half of the seeds: two files play them side by side. */
export function keepsItsBounds(
  half: 'first' | 'second',
  run: (seed: number) => Promise<Run>,
): void {
  const own = half === 'first' ? parts.slice(0, PARTS / 2) : parts.slice(PARTS / 2)
  it.each(ALONE === undefined ? own : [[Number(ALONE), Number(ALONE)] as const])(
    'keeps its bounds: seeds %i to %i',
    { timeout: 120_000 },
    async (first, last) => {
      for (let seed = first; seed <= last; seed++) {
        const { broken, trace } = await run(seed)
        const story = ALONE === undefined ? `SLUICE_SIMULATION_SEED=${seed} shows it` : trace
        expect(broken, `seed ${seed}: ${[story].flat().join('\n')}`).toEqual([])
      }
    },
  )
}
