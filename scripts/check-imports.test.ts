import { describe, expect, test } from 'vitest'
import { checkImports, cyclesOf, importsOf, problemOf } from './check-imports.mjs'

const publicEntries = ['sluice', 'sluice/redis', 'sluice/testing', '@sluice/server']
const src = 'packages/sluice/src'
const server = 'packages/server/src'

test('finds every form of import', () => {
  const source = `
import { a } from './a.ts'
import type { B } from './b.ts'
import {
  c,
  d,
} from './c.ts'
import './e.ts'
export * from './f.ts'
export { type G } from './g.ts'
const h = await import('./h.ts')
type I = import('./i.ts').I
`
  expect(importsOf(source)).toEqual('abcefghi'.split('').map((name) => `./${name}.ts`))
})

test('does not take comments and ordinary exports for imports', () => {
  const source = `
/**
 * import { createLimiter } from 'sluice'
 */
// import { x } from './x.ts'
export const from = 'elsewhere'
export function importAll(from: string) { return from + 'x' }
`
  expect(importsOf(source)).toEqual([])
})

describe('a forbidden import is reported', () => {
  test.each([
    [`${src}/errors.ts`, './time/clock.ts', 'errors may import nothing'],
    [`${src}/time/clock.ts`, '../limit/limit.ts', 'time may import errors'],
    [`${src}/algorithms/gcra.ts`, '../limit/limit.ts', 'algorithms may import time'],
    [`${src}/algorithms/gcra.ts`, '../stores/store.ts', 'algorithms may import'],
    [`${src}/key/key.ts`, '../time/clock.ts', 'key may import'],
    [`${src}/policy/policy.ts`, '../decision/decision.ts', 'policy may import'],
    [`${src}/decision/decision.ts`, '../limiter/limiter.ts', 'decision may import'],
    [`${src}/stores/store.ts`, '../policy/policy.ts', 'stores/store may import'],
    [`${src}/resilience/call-guard.ts`, '../limiter/create-limiter.ts', 'resilience may import'],
    [`${src}/limiter/limiter.ts`, '../resilience/call-guard.ts', 'limiter/limiter may import'],
    [`${src}/stores/store.ts`, './memory/memory-store.ts', 'stores/store may import'],
    [`${src}/stores/memory/memory-store.ts`, '../../limiter/limiter.ts', 'stores may import'],
    [`${src}/redis/redis-store.ts`, '../limiter/limiter.ts', 'redis may import'],
    [`${src}/redis/redis-store.ts`, '../limiter/limiter.ts', 'redis may import'],
    [`${src}/limiter/limiter.ts`, '../algorithms/index.ts', 'limiter may import'],
    [`${src}/http/express.ts`, '../stores/memory/memory-store.ts', 'http may import'],
    [`${src}/limiter/limiter.ts`, '../index.ts', "no file imports the package's own root"],
    [`${src}/testing/index.ts`, '../index.ts', "no file imports the package's own root"],
    [`${src}/utils/strings.ts`, '../errors.ts', 'there is no room named utils'],
    [`${src}/redis/redis-store.ts`, 'node:crypto', 'no Node built-ins outside http'],
    [`${src}/redis/redis-store.ts`, 'ioredis', 'the library has no dependencies'],
    [`${src}/limiter/limiter.ts`, '../../../../scripts/run.mjs', 'only its own sources'],
    [`${server}/config/config.ts`, '../envoy/decide/headers.ts', 'config may import log'],
    [`${server}/log/log.ts`, '../service/service.ts', 'log may import nothing'],
    [`${server}/controls/overlay.ts`, '../limiters/registry.ts', 'controls may import'],
    [`${server}/http/routes.ts`, '../auth/auth-handler.ts', 'http may import'],
    [`${server}/upstream/gateway.ts`, '../http/operations.ts', 'upstream may import'],
    [`${server}/service/service.ts`, '../workers/primary.ts', 'service may import'],
    [`${server}/helpers/x.ts`, '../log/log.ts', 'there is no room named helpers'],
    ['packages/cli/src/logs/lines.ts', '../replay/replay.ts', 'logs may import nothing'],
    ['bench/memory/run.mjs', 'sluice/limit/limit', 'only the public entries'],
    ['bench/memory/run.mjs', '../../packages/sluice/src/index.ts', 'only the public entries'],
    ['packages/server/src/main.ts', '../../sluice/src/index.ts', 'only the public entries'],
    ['packages/cli/src/main.ts', '../../server/src/index.ts', 'only the public entries'],
    ['packages/cli/src/main.ts', '@sluice/server/dist/index.js', 'only the public entries'],
    ['examples/five-lines/server.js', '../../packages/server/src/index.ts', 'only the public'],
  ])('%s → %s', (file, specifier, reason) => {
    expect(problemOf(file, specifier, publicEntries)).toContain(reason)
  })
})

describe('an allowed import passes', () => {
  test.each([
    [`${src}/algorithms/gcra.ts`, './bucket.ts'],
    [`${src}/limit/limit.ts`, '../algorithms/table.ts'],
    [`${src}/stores/memory/memory-store.ts`, '../store.ts'],
    [`${src}/stores/memory/memory-store.ts`, '../../algorithms/table.ts'],
    [`${src}/redis/index.ts`, '../stores/store.ts'],
    [`${src}/limiter/create-limiter.ts`, '../stores/memory/memory-store.ts'],
    [`${src}/limiter/create-limiter.ts`, '../resilience/shared-resilience.ts'],
    [`${src}/resilience/resilient-store.ts`, '../stores/store.ts'],
    [`${src}/testing/index.ts`, '../algorithms/table.ts'],
    [`${src}/index.ts`, './limiter/limiter.ts'],
    [`${src}/http/node.ts`, 'node:http'],
    [`${server}/auth/auth-handler.ts`, '../limiters/limiter-for.ts'],
    [`${server}/workers/primary.ts`, '../service/service.ts'],
    [`${server}/review/tls.test.ts`, '../workers/primary.ts'],
    ['packages/cli/src/main.ts', './commands/check.ts'],
    ['examples/five-lines/server.js', 'sluice'],
    ['bench/memory/run.mjs', 'sluice/testing'],
    ['bench/memory/run.mjs', './report.mjs'],
    ['bench/memory/run.mjs', 'limiter'],
    ['packages/cli/src/main.ts', '@sluice/server'],
    ['packages/server/test/running.ts', '../src/service/service.ts'],
    ['packages/server/test/drain.test.ts', '../../../test/servers/until.ts'],
  ])('%s → %s', (file, specifier) => {
    expect(problemOf(file, specifier, publicEntries)).toBeUndefined()
  })
})

describe('a cycle is reported', () => {
  test('between files of one room', () => {
    expect(
      cyclesOf([
        [`${server}/log/a.ts`, `${server}/log/b.ts`],
        [`${server}/log/b.ts`, `${server}/log/c.ts`],
        [`${server}/log/c.ts`, `${server}/log/a.ts`],
        [`${server}/log/d.ts`, `${server}/log/a.ts`],
      ]),
    ).toEqual([
      `an import cycle: ${['a', 'b', 'c', 'a'].map((x) => `${server}/log/${x}.ts`).join(' → ')}`,
    ])
  })

  test('between rooms, although no file is in a cycle', () => {
    expect(
      cyclesOf([
        [`${server}/http/a.ts`, `${server}/auth/b.ts`],
        [`${server}/auth/c.ts`, `${server}/http/d.ts`],
      ]),
    ).toEqual([`an import cycle: ${server}/auth → ${server}/http → ${server}/auth`])
  })
})

test('the workspace follows the rules', () => {
  expect(checkImports()).toEqual([])
})
