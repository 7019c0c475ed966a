// The package as its users get it: packed, installed into scratch projects, imported, required and compiled.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLong } from '../length.ts'
import { testOtherTools } from './other-tools.ts'
import { jsonOf, publicEntries, run, Scratch, TSC } from './scratch.ts'

interface Installed {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly engines?: { readonly node?: string }
}

/** Whether a range such as `^18 || >=20.9` has room for Node 20.19. */
function runsOnNode20(range: string | undefined): boolean {
  if (range === undefined || range === '*') return true
  return range.split('||').some((part) => {
    const [, sign, major = '', minor = '0'] =
      /^\s*(>=|>|\^|~)?\s*v?(\d+)(?:\.(\d+))?/.exec(part) ?? []
    const isAtMost = Number(major) < 20 || (Number(major) === 20 && Number(minor) <= 19)
    return sign === '>=' || sign === '>' ? isAtMost : major === '20' && isAtMost
  })
}

const MINUTE = 60_000
const scratch = new Scratch()
beforeAll(() => scratch.pack(), 2 * MINUTE)
afterAll(() => scratch.remove())

const threeChecks = `
if (typeof limit !== 'function' || typeof parsePolicy !== 'function') throw new Error('an export is missing')
const limiter = createLimiter({ limit: '2/min' })
for (let i = 0; i < 3; i++) console.log(limiter.check('a').allowed)
limiter.close()
`
const threeAnswers = 'true\ntrue\nfalse\n'

describe('the packed package', () => {
  test('works as an ES module', { timeout: MINUTE }, () => {
    const folder = scratch.project('esm', 'module', {
      'main.js': `import { createLimiter, limit, parsePolicy } from 'sluice'\n${threeChecks}`,
    })
    expect(run('node', ['main.js'], folder)).toBe(threeAnswers)
  })

  test('works with require, without a warning', { timeout: MINUTE }, () => {
    const folder = scratch.project('cjs', 'commonjs', {
      'main.js': `process.on('warning', (warning) => console.log(warning.message))
const { createLimiter, limit, parsePolicy } = require('sluice')\n${threeChecks}`,
    })
    expect(run('node', ['main.js'], folder)).toBe(threeAnswers)
  })

  test('recognises errors of its other build', { timeout: MINUTE }, () => {
    const folder = scratch.project('both', 'module', {
      'main.js': `import { createRequire } from 'node:module'
import { createLimiter, SluiceError } from 'sluice'
const other = createRequire(import.meta.url)('sluice')
const thrownBy = ({ createLimiter }) => {
  try { createLimiter({ limit: 'often' }) } catch (error) { return error }
}
console.log(other.SluiceError !== SluiceError, thrownBy(other) instanceof SluiceError)
console.log(thrownBy({ createLimiter }) instanceof other.SluiceError, new TypeError('x') instanceof SluiceError)`,
    })
    expect(run('node', ['main.js'], folder)).toBe('true true\ntrue false\n')
  })

  test('exports its public entries and nothing else', { timeout: MINUTE }, () => {
    const entries = publicEntries()
    const inner = ['sluice/limit', 'sluice/dist/index.js', 'sluice/dist/cjs/index.js']
    const folder = scratch.project('entries', 'module', {
      'main.mjs': `
        for (const entry of process.argv.slice(2))
          console.log(entry, await import(entry).then(Object.keys, (error) => error.code).then(String))`,
      'main.cjs': `
        for (const entry of process.argv.slice(2)) {
          try { console.log(entry, Object.keys(require(entry)).sort().join()) }
          catch (error) { console.log(entry, error.code) }
        }`,
    })
    const [imported, required] = ['main.mjs', 'main.cjs'].map((main) =>
      run('node', [main, ...entries, ...inner], folder)
        .trim()
        .split('\n'),
    )
    expect(entries).toContain('sluice')
    expect(required).toEqual(imported)
    expect(imported?.slice(entries.length)).toEqual(
      inner.map((entry) => `${entry} ERR_PACKAGE_PATH_NOT_EXPORTED`),
    )
  })

  test(
    'loads CommonJS files for require, so that old tools can read them',
    { timeout: MINUTE },
    () => {
      const folder = scratch.project('resolved', 'commonjs', {
        'main.js': 'for (const entry of process.argv.slice(2)) console.log(require.resolve(entry))',
      })
      const files = run('node', ['main.js', ...publicEntries()], folder)
        .trim()
        .split('\n')
      expect(files.filter((file) => !file.includes('/dist/cjs/'))).toEqual([])
    },
  )

  test('has types for every entry where moduleResolution is node', () => {
    const { exports, typesVersions } = jsonOf('packages/sluice/package.json') as {
      exports: Record<string, { require?: { types: string } }>
      typesVersions: { '*': Record<string, readonly string[]> }
    }
    const expected = Object.entries(exports).flatMap(([entry, { require }]) =>
      require === undefined || entry === '.' ? [] : [[entry.slice(2), [require.types]]],
    )
    expect(typesVersions['*']).toEqual(Object.fromEntries(expected))
  })

  test('carries both builds and its licence, and no sources or tests', () => {
    const { files } = scratch
    expect(files).toEqual(
      expect.arrayContaining([
        'package/LICENSE',
        'package/dist/index.js',
        'package/dist/cjs/index.js',
        'package/dist/cjs/package.json',
      ]),
    )
    expect(files.filter((name) => /\/src\/|\.test\./.test(name))).toEqual([])
  })

  test.each(['module', 'commonjs'])(
    'compiles in a strict TypeScript %s project',
    { timeout: MINUTE },
    (type) => {
      const folder = scratch.project(`types-${type}`, type, {
        'tsconfig.json': JSON.stringify({
          compilerOptions: {
            module: 'nodenext',
            target: 'es2023',
            lib: ['es2023', 'dom'],
            types: [],
            strict: true,
            exactOptionalPropertyTypes: true,
            noEmit: true,
            // The declarations themselves are checked too: they are part of what we ship.
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

        // @ts-expect-error a limit is not a boolean
        createLimiter({ limit: true })
        // @ts-expect-error the key is not optional
        limiter.check()
      `,
      })
      expect(run(TSC, ['-p', '.'], folder)).toBe('')
    },
  )
})

describe('the packages', () => {
  // What npm warns of at each installation, or refuses with engine-strict.
  test('depend on nothing that needs a later Node than they do', () => {
    const { packages } = jsonOf('package-lock.json') as { packages: Record<string, Installed> }
    const found = new Set<string>()
    const follow = (path: string): void => {
      if (found.has(path)) return
      found.add(path)
      for (const name of Object.keys(packages[path]?.dependencies ?? {})) {
        const nested = `${path}/node_modules/${name}`
        follow(nested in packages ? nested : `node_modules/${name}`)
      }
    }
    for (const folder of ['sluice', 'server', 'nest', 'cli']) follow(`packages/${folder}`)
    expect(found).toContain('node_modules/ioredis')
    const tooNew = [...found]
      .map((path) => [path, packages[path]?.engines?.node] as const)
      .filter(([, range]) => !runsOnNode20(range))
    expect(tooNew).toEqual([])
  })
})

describe('a mistake in the options of createLimiter', () => {
  const mistakes = [
    ['{ limit: true }', "Type 'true' is not assignable to type '"],
    ["{ limit: '1/s', hashkeys: true }", "Did you mean to write 'hashKeys'?"],
    ["{ limit: '1/s', store: {} }", "missing the following properties from type 'Store'"],
    ["{ policy: { name: 'a', rules: [{ name: 'b', by: [] }] } }", "Property 'limit' is missing"],
  ] as const
  /** What the compiler says of all of them: a start of it costs more than they do. */
  let said = ''
  beforeAll(() => {
    const files = mistakes.map(([options], i): [string, string] => {
      const call = `import { createLimiter } from 'sluice'\nexport const limiter = createLimiter(${options})\n`
      return [`mistake-${i}.ts`, call]
    })
    const folder = scratch.project('mistakes', 'module', Object.fromEntries(files))
    const flags = ['--noEmit', '--strict', '--pretty', 'false', '--skipLibCheck']
    try {
      run(TSC, [...flags, '--module', 'nodenext', ...files.map(([name]) => name)], folder)
    } catch (error) {
      said = (error as Error).message
    }
  }, MINUTE)

  test.each(mistakes.map((mistake, i) => [...mistake, i] as const))(
    'is one line of the compiler: %s',
    (_, message, i) => {
      // Further lines of an error would be indented and name no file.
      const [, ...lines] = said.trimEnd().split('\n')
      expect(lines).toHaveLength(mistakes.length)
      const own = lines.filter((line) => line.startsWith(`mistake-${i}.ts(2,`))
      expect(own).toEqual([expect.stringMatching(/^[^(]+\(2,\d+\): error /)])
      expect(own[0]).toContain(message)
    },
  )
})

// Installs about 200 MB of tools, so only in `npm run test:long`.
if (isLong) testOtherTools(scratch)
