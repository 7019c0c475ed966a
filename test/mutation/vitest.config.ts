// What `npm run mutation` asks about every change that it makes to an algorithm: the fast tests, quickest first.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const files = [
  'packages/sluice/src/algorithms/*.test.ts',
  'packages/sluice/test/traps-{buckets,windows}.test.ts',
  'packages/sluice/test/vectors.test.ts',
  'packages/sluice/test/laws*.test.ts',
]

/** A change is found by the first test that fails, so the random walks come last. */
class QuickestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const turn = ({ moduleId }: TestSpecification): number =>
      ['/algorithms/', '/traps-', '/vectors.', '/laws-oracle.', ''].findIndex((part) =>
        moduleId.includes(part),
      )
    return specifications.toSorted((a, b) => turn(a) - turn(b))
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: files,
    sequence: { sequencer: QuickestFirst },
    setupFiles: ['test/mutation/no-shrinking.ts'],
    // Shorter walks than in `npm test`, from a fixed seed, so that the score does not change from run to run.
    env: { FC_RUNS: '8' },
  },
})
