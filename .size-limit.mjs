// Size budgets of the public entries, minified and compressed; an entry that is not built is left to the package check.
import { existsSync } from 'node:fs'

export default [
  { name: 'sluice', path: 'packages/sluice/dist/index.js', limit: '13 kB' },
  { name: 'sluice/redis', path: 'packages/sluice/dist/redis/index.js', limit: '12 kB' },
  { name: 'sluice/testing', path: 'packages/sluice/dist/testing/index.js', limit: '16 kB' },
].filter(({ path }) => existsSync(path))
