// The packed package in Jest, an old TypeScript, Next.js, Workers, Bun and Deno: tools that load packages in their own ways.
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../servers/ports.ts'
import { until } from '../servers/until.ts'
import { publicEntries, run, type Scratch } from './scratch.ts'

/** Installed by name from the npm registry. */
const TOOLS = {
  bun: '1.4.4',
  deno: '2.9.6',
  jest: '30.5.2',
  next: '15.5.29',
  react: '19.0.9',
  'react-dom': '19.0.9',
  typescript: '5.4.5',
  workerd: '1.20261104.1',
}

const MINUTE = 60_000
const NEXT = 'node_modules/next/dist/bin/next'
const cache = fileURLToPath(
  new URL('../../node_modules/.cache/sluice/other-tools', import.meta.url),
)

/** Installs the tools once; later runs find them in the cache. */
function install(): void {
  const manifest = JSON.stringify({ private: true, dependencies: TOOLS })
  const path = join(cache, 'package.json')
  if (existsSync(join(cache, 'node_modules/.package-lock.json')) && read(path) === manifest) return
  mkdirSync(cache, { recursive: true })
  writeFileSync(path, manifest)
  run('npm', ['install', '--no-audit', '--no-fund', '--silent'], cache)
}

function read(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

const tool = (name: string): string => join(cache, 'node_modules/.bin', name)

const program = `
const limiter = createLimiter({ limit: '2/min' })
console.log([1, 2, 3].map(() => limiter.check('a').allowed).join(), typeof polite)
limiter.close()
`
const printed = 'true,true,false function\n'

/** Defines the tests. */
export function testOtherTools(scratch: Scratch): void {
  describe('the packed package in other tools', () => {
    beforeAll(install, 5 * MINUTE)

    test('works in Jest 30', { timeout: 2 * MINUTE }, () => {
      const folder = scratch.project('jest', 'commonjs', {
        'limit.test.js': `
          const { createLimiter, memoryStore } = require('sluice')
          const { fakeClock } = require('sluice/testing')
          test('limits', () => {
            const limiter = createLimiter({ limit: '2/min', store: memoryStore({ clock: fakeClock() }) })
            expect([1, 2, 3].map(() => limiter.check('a').allowed)).toEqual([true, true, false])
            limiter.close()
          })`,
      })
      const output = run(tool('jest'), ['--ci', '--json', '--rootDir', folder], folder)
      expect(JSON.parse(output)).toMatchObject({ success: true, numPassedTests: 1 })
    })

    test.each([
      ['commonjs', { module: 'commonjs', moduleResolution: 'node' }],
      ['commonjs', { module: 'node16', moduleResolution: 'node16' }],
      ['module', { module: 'node16', moduleResolution: 'node16' }],
      ['module', { module: 'esnext', moduleResolution: 'bundler' }],
    ])('compiles with TypeScript 5.4, %s, %j', { timeout: 2 * MINUTE }, (type, resolution) => {
      const name = `ts-${type}-${resolution.moduleResolution}`
      const folder = scratch.project(name, type, {
        'tsconfig.json': JSON.stringify({
          compilerOptions: {
            ...resolution,
            target: 'es2022',
            lib: ['es2022', 'dom'],
            types: [],
            strict: true,
            noEmit: true,
            skipLibCheck: false,
          },
          include: ['main.ts'],
        }),
        'main.ts': `
          import { createLimiter } from 'sluice'
          ${publicEntries()
            .map((entry, i) => `import * as entry${i} from '${entry}'`)
            .join('\n')}
          export const all = [${publicEntries()
            .map((_, i) => `entry${i}`)
            .join()}]
          const limiter = createLimiter({ limit: '2/min' })
          export const allowed: boolean = limiter.check('a').allowed
          // @ts-expect-error the key is not optional
          limiter.check()`,
      })
      expect(run(tool('tsc'), ['-p', '.'], folder)).toBe('')
    })

    test('works in a route handler of Next.js 15', { timeout: 10 * MINUTE }, async () => {
      const folder = scratch.project('next', 'module', {})
      mkdirSync(join(folder, 'app/api'), { recursive: true })
      writeFileSync(
        join(folder, 'app/layout.js'),
        'export default ({ children }) => <html><body>{children}</body></html>',
      )
      writeFileSync(
        join(folder, 'app/api/route.js'),
        `import { rateLimit } from 'sluice/http/fetch'
const limit = rateLimit({ limit: '2/min', address: (request) => request.headers.get('x-client') })
export const dynamic = 'force-dynamic'
export const GET = limit(() => Response.json({ ok: true }))`,
      )
      // Next.js looks for its own parts beside the project.
      for (const name of readdirSync(join(cache, 'node_modules')))
        if (!name.startsWith('.'))
          cpSync(join(cache, 'node_modules', name), join(folder, 'node_modules', name), {
            recursive: true,
          })
      run(process.execPath, [join(folder, NEXT), 'build'], folder)
      const port = await freePort()
      const server = spawn(
        process.execPath,
        [join(folder, NEXT), 'start', '-H', '127.0.0.1', '-p', String(port)],
        { cwd: folder, stdio: 'ignore' },
      )
      onTestFinished(() => void server.kill('SIGKILL'))
      const ask = async (client: string): Promise<number> => {
        const headers = { 'x-client': client }
        const response = await fetch(`http://127.0.0.1:${port}/api`, { headers })
        await response.text()
        return response.status
      }
      const isThere = (): Promise<boolean> =>
        ask('192.0.2.9').then(
          () => true,
          () => false,
        )
      await until('it listens', MINUTE, isThere)
      const statuses = []
      for (let i = 0; i < 3; i++) statuses.push(await ask('192.0.2.1'))
      expect(statuses).toEqual([200, 200, 429])
    })

    // Workers have WeakRef from the compatibility date 2025-05-05 on.
    test.each(['2024-01-01', '2025-09-01'])(
      'works in workerd with the compatibility date %s',
      { timeout: 2 * MINUTE },
      (date) => {
        const folder = scratch.project(`worker-${date}`, 'module', {
          'main.js': `
            import { createLimiter } from './sluice/index.js'
            import { rateLimit } from './sluice/http/fetch.js'
            import './sluice/client/index.js'
            const global = createLimiter({ limit: '2/min' })
            const guarded = rateLimit({ limit: '2/min', address: () => '192.0.2.1' })(() => new Response('ok'))
            export default {
              async test() {
                for (const limiter of [global, createLimiter({ limit: '2/min' })]) {
                  const answers = [1, 2, 3].map(() => limiter.check('a').allowed).join()
                  if (answers !== 'true,true,false') throw new Error(answers)
                }
                const statuses = []
                for (let i = 0; i < 3; i++)
                  statuses.push((await guarded(new Request('https://worker.test/'))).status)
                if (statuses.join() !== '200,200,429') throw new Error(statuses.join())
              },
            }`,
        })
        writeFileSync(join(folder, 'config.capnp'), workerConfig(folder, date))
        expect(run(tool('workerd'), ['test', 'config.capnp'], folder)).toBe('')
      },
    )

    test.each([
      ['bun', ['main.mjs']],
      ['deno', ['run', 'main.mjs']],
    ])('works in %s', { timeout: 2 * MINUTE }, (name, args) => {
      const folder = scratch.project(name, 'module', {
        'main.mjs': `import { createLimiter } from 'sluice'\nimport { polite } from 'sluice/client'\n${program}`,
      })
      expect(run(tool(name), args, folder)).toBe(printed)
    })
  })
}

/** A worker of `main.js` and all modules of the package, which workerd wants to be listed. */
function workerConfig(folder: string, date: string): string {
  cpSync(join(folder, 'node_modules/sluice/dist'), join(folder, 'sluice'), { recursive: true })
  const files = readdirSync(join(folder, 'sluice'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js') && !file.startsWith('cjs'))
    .map((file) => `sluice/${file}`)
  const modules = ['main.js', ...files].map(
    (file) => `(name = "${file}", esModule = embed "${file}")`,
  )
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = .worker)]);
const worker :Workerd.Worker = (compatibilityDate = "${date}", modules = [${modules.join(', ')}]);
`
}
