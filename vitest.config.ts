// Runs every test of the workspace from source: `sluice` and its subpaths point into packages/sluice/src.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) =>
  fileURLToPath(new URL(`./packages/sluice/src/${path}`, import.meta.url))

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
    include: ['{packages,test,scripts,bench,examples}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    typecheck: {
      enabled: true,
      include: ['{packages,test}/**/*.test-d.ts'],
      tsconfig: './tsconfig.json',
      // Type errors elsewhere are the business of `npm run types`.
      ignoreSourceErrors: true,
    },
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.test-d.ts'],
    },
  },
})
