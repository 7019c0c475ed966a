// Builds the packages: the sources of each become ESM, declarations and source maps in its dist; where a package has a
// tsconfig.cjs.json, the same again as CommonJS in dist/cjs. The pages become static files in the packages that carry them.
import {
  copyFileSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureInstalled } from './install.mjs'
import { root, run, tool } from './run.mjs'

/** Files of spec that a package carries, so that editors find them. @type {Readonly<Record<string, string>>} */
const schemas = { sluice: 'policy.schema.json', server: 'config.schema.json' }

/** In an order in which each finds the declarations of those that it imports. */
const packages = ['sluice', 'server', 'nest', 'cli']

/**
 * Builds every package that has sources; with `onlyChanged`, those whose build is older than they are. Goes on
 * after a failure, and gives the first exit code that is not 0.
 * @param {{ onlyChanged?: boolean }} [options]
 */
export async function build({ onlyChanged = false } = {}) {
  let failure = 0
  for (const name of packages) {
    const folder = `${root}packages/${name}/`
    if (!existsSync(`${folder}tsconfig.json`) || !existsSync(`${folder}src`)) continue
    if (onlyChanged && isBuilt(folder)) continue
    const code = await compile(folder)
    failure = failure || code
  }
  // The playground runs the library, so that there is nothing to build when that failed.
  return failure || buildPages({ onlyChanged })
}

/** Packages of pages, and the file that each is built into. */
const pages = [
  { name: 'console', output: 'packages/server/console/index.html' },
  { name: 'playground', output: 'packages/cli/playground/index.html' },
]

/**
 * Builds the pages into the packages that carry them; with `onlyChanged`, those that are older than their sources or
 * than the library that they run.
 * @param {{ onlyChanged: boolean }} options
 */
async function buildPages({ onlyChanged }) {
  let failure = 0
  for (const { name, output } of pages) {
    const folder = `${root}packages/${name}/`
    if (!existsSync(`${folder}src`)) continue
    const inputs = ['index.html', 'vite.config.ts', 'package.json', '../sluice/dist']
    if (onlyChanged && isNewer(root + output, folder, inputs)) continue
    const code = await run(tool('vite'), [
      'build',
      '--config',
      `${folder}vite.config.ts`,
      '--logLevel',
      'warn',
    ])
    failure = failure || code
  }
  return failure
}

/**
 * Compiles into a folder beside dist and then swaps the two, so that removed sources leave nothing behind
 * and a reader never sees half a build. A failed build leaves dist as it was.
 * @param {string} folder
 */
async function compile(folder) {
  const next = `${folder}dist-next-${process.pid}`
  const last = `${folder}dist-last-${process.pid}`
  const code =
    (await run(tool('tsc'), ['-p', folder, '--outDir', next])) ||
    (await compileCommonJs(folder, next))
  if (code === 0) {
    const schema = schemas[basename(folder)]
    const written = `${root}spec/${schema}`
    if (schema !== undefined && existsSync(written)) copyFileSync(written, `${next}/${schema}`)
    if (existsSync(`${folder}dist`)) renameSync(`${folder}dist`, last)
    renameSync(next, `${folder}dist`)
  }
  for (const path of [next, last]) rmSync(path, { recursive: true, force: true })
  return code
}

/**
 * Compiles a package as CommonJS. Its own package.json tells Node and TypeScript the format of the files below it.
 * @param {string} folder @param {string} dist
 */
async function compileCommonJs(folder, dist) {
  const project = `${folder}tsconfig.cjs.json`
  if (!existsSync(project)) return 0
  const code = await run(tool('tsc'), ['-p', project, '--outDir', `${dist}/cjs`])
  if (code === 0) writeFileSync(`${dist}/cjs/package.json`, '{ "type": "commonjs" }\n')
  return code
}

/** Whether nothing in a package is newer than its build; a folder is as new as its last addition or removal. @param {string} folder */
function isBuilt(folder) {
  return isNewer(`${folder}dist`, folder, ['package.json', 'tsconfig.json', 'tsconfig.cjs.json'])
}

/**
 * Whether an output is newer than the sources of a package and some of its other files.
 * @param {string} output @param {string} folder @param {readonly string[]} configs
 */
function isNewer(output, folder, configs) {
  const builtAt = statSync(output, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = readdirSync(`${folder}src`, { recursive: true, encoding: 'utf8' })
  const inputs = [...configs, 'src', ...sources.map((path) => `src/${path}`)]
  return inputs.every(
    (path) => (statSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0) < builtAt,
  )
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  // `npm pack` in a fresh clone comes here first.
  if (!existsSync(tool('tsc'))) await ensureInstalled()
  process.exitCode = await build()
}
