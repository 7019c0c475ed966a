// Runs every test of the workspace from source: `sluice` and its subpaths point into packages/sluice/src.
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) =>
  fileURLToPath(new URL(`./packages/sluice/src/${path}`, import.meta.url))

/**
 * Tests of what real time does to real servers: their figures are waits, rates and recoveries. They run one after the
 * other when all others have ended, so that the suite itself is not the load that they measure.
 */
const TIMED = ['packages/server/test/crowd.test.ts', 'test/faults/faults.test.ts']
/** What takes minutes and few changes can break. */
const LONG_ONLY = process.env['SLUICE_LONG'] === '1' ? [] : ['test/site/**']
const NEVER = ['**/node_modules/**', '**/dist/**', ...LONG_ONLY]

/** Many tests wait for servers and processes, so that more workers than processors are of use. */
const WORKERS = availableParallelism() + 1

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@sluice\/server$/, replacement: source('../../server/src/index.ts') },
      { find: /^@sluice\/nest$/, replacement: source('../../nest/src/index.ts') },
      { find: /^sluice$/, replacement: source('index.ts') },
      { find: /^sluice\/(http\/.+)$/, replacement: source('$1.ts') },
      { find: /^sluice\/(.+)$/, replacement: source('$1/index.ts') },
    ],
  },
  test: {
    // These end a test that hangs. They say nothing about how long a test takes on a machine that is busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'parallel',
          include: ['{packages,test,scripts,bench,examples}/**/*.test.ts'],
          exclude: [...NEVER, ...TIMED],
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
          typecheck: {
            enabled: true,
            include: ['{packages,test}/**/*.test-d.ts'],
            tsconfig: './tsconfig.json',
            // Type errors elsewhere are the business of `npm run types`.
            ignoreSourceErrors: true,
          },
        },
      },
      {
        extends: true,
        test: {
          name: 'timed',
          include: TIMED,
          exclude: NEVER,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.test-d.ts'],
    },
  },
})
