// Size budgets of the public entries, minified and compressed; an entry that is not built is left to the package check.
// A limiter reads whole policies, so that calendars, lockouts, pools, stamps, holds and trials are in every entry that makes one.
import { existsSync } from 'node:fs'

export default [
  { name: 'sluice', path: 'packages/sluice/dist/index.js', limit: '37 kB' },
  { name: 'sluice/client', path: 'packages/sluice/dist/client/index.js', limit: '30 kB' },
  {
    name: 'sluice/client, polite alone',
    path: 'packages/sluice/dist/client/index.js',
    import: '{ polite }',
    limit: '9 kB',
  },
  { name: 'sluice/redis', path: 'packages/sluice/dist/redis/index.js', limit: '41 kB' },
  // With the memory store, which counts of one process live in and which reads the places of several keys ahead, and the arithmetic
  // of holds for synced counts.
  {
    name: 'sluice/coordination',
    path: 'packages/sluice/dist/coordination/index.js',
    limit: '25 kB',
  },
  // With the memory store, which the fallback counts in and which reads the places of several keys ahead.
  { name: 'sluice/resilience', path: 'packages/sluice/dist/resilience/index.js', limit: '19 kB' },
  // With the memory store, holds, leases, the refusal cache and resilience, which the pods decide by.
  { name: 'sluice/simulator', path: 'packages/sluice/dist/simulator/index.js', limit: '40 kB' },
  { name: 'sluice/otel', path: 'packages/sluice/dist/otel/index.js', limit: '1 kB' },
  { name: 'sluice/testing', path: 'packages/sluice/dist/testing/index.js', limit: '16 kB' },
  { name: 'sluice/http', path: 'packages/sluice/dist/http/index.js', limit: '50 kB' },
  ...['node', 'express', 'fastify', 'koa', 'hono', 'fetch', 'grpc'].map((name) => ({
    name: `sluice/http/${name}`,
    path: `packages/sluice/dist/http/${name}.js`,
    limit: '51 kB',
  })),
].filter(({ path }) => existsSync(path))
