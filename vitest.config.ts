// Runs every test of the workspace from source: `sluice` and its subpaths point into packages/sluice/src.
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const source = (path: string) =>
  fileURLToPath(new URL(`./packages/sluice/src/${path}`, import.meta.url))

/** Tests whose figures are waits of a crowd: one after the other, when all others have ended. */
const TIMED = ['packages/server/test/crowd.test.ts']
/** The files that take longest, most of it waiting: begun first, so that the others run beside them. */
const FIRST = [
  'test/faults/faults.test.ts',
  'packages/sluice/test/client/adaptive-hidden.test.ts',
  'packages/sluice/test/redis/agreement.test.ts',
  'packages/sluice/test/simulation/simulation.test.ts',
  'packages/server/test/admin/console-pages.test.ts',
  'packages/server/test/envoy/interop.test.ts',
  'packages/cli/test/guide.test.ts',
  'packages/server/test/workers/workers.test.ts',
  'packages/server/test/deploy/docker.test.ts',
  'packages/cli/test/attacks/attacks.test.ts',
  'packages/cli/test/simulate.test.ts',
]
/** What takes minutes and few changes can break. */
const LONG_ONLY = process.env['SLUICE_LONG'] === '1' ? [] : ['test/site/**']
const NEVER = ['**/node_modules/**', '**/dist/**', ...LONG_ONLY]

/**
 * Tests beside their files, and others of one process. They leave nothing global behind, so that the files of a worker
 * share its modules. Those left out look at the memory, the signals or the connections of a process, take minutes, or use
 * gRPC, whose streams hang in shared modules.
 */
const UNITS = [
  '{packages/*/src,packages/*/schema,scripts}/**/*.test.ts',
  'packages/sluice/test/!(async-context|memory-*).test.ts',
  'packages/sluice/test/http/!(grpc*).test.ts',
  'packages/sluice/test/{refusal-cache,simulation,simulator}/*.test.ts',
  'packages/server/test/!(crowd|hostile|limits|metrics|shutdown).test.ts',
  'packages/server/test/{admin,tls}/!(console-pages|descriptors|grpc|protocols).test.ts',
  'test/docs/*.test.ts',
]

/** Many tests wait for servers and processes, so that more workers than processors are of use. */
const WORKERS = availableParallelism() + 4

/** The longest files first; a run must not end with one of them alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = FIRST.findIndex((path) => moduleId.endsWith(path))
      return found === -1 ? FIRST.length : found
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

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
    testTimeout: 120_000,
    hookTimeout: 120_000,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'units',
          include: UNITS,
          exclude: NEVER,
          // A process and all modules anew for each file are two thirds of what these tests would cost.
          isolate: false,
          setupFiles: ['test/globals.ts'],
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'parallel',
          include: ['{packages,test,scripts,bench,examples}/**/*.test.ts'],
          exclude: [...NEVER, ...UNITS, ...TIMED],
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
          typecheck: {
            enabled: true,
            include: ['{packages/*/{src,test},test}/**/*.test-d.ts'],
            // Only what these files import is checked, a fifth of the whole: the rest is the business of `npm run types`.
            tsconfig: './tsconfig.type-tests.json',
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
