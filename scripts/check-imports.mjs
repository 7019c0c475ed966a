// Holds the import rules: which room of the library may import which, and what the rest of the workspace may see of it.
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './run.mjs'

const library = 'packages/sluice/src/'
const outer = [
  'limiter',
  'limiter/limiter',
  'decision',
  'stores/store',
  'limit',
  'policy',
  'key',
  'time',
  'errors',
]

/**
 * A room is a folder of the library's src, or a single file with rules of its own. Each may import itself and
 * the rooms named here; 'any' is every room except the package's own root, which nobody imports.
 * @type {Record<string, string[] | 'any'>}
 */
const mayImport = {
  index: 'any',
  errors: [],
  time: ['errors'],
  limit: ['time', 'errors'],
  algorithms: ['limit', 'time', 'errors'],
  key: ['limit', 'errors'],
  policy: ['limit', 'key', 'time', 'errors'],
  decision: ['policy', 'algorithms', 'stores/store', 'limit', 'key', 'time', 'errors'],
  'stores/store': ['algorithms', 'limit', 'time', 'errors'],
  stores: ['stores/store', 'algorithms', 'limit', 'time', 'errors'],
  redis: ['stores/store', 'algorithms', 'limit', 'key', 'time', 'errors'],
  'limiter/limiter': ['decision', 'policy', 'time'],
  resilience: ['stores/store', 'stores', 'limit', 'time', 'errors'],
  limiter: [
    'limiter/limiter',
    'resilience',
    'policy',
    'key',
    'decision',
    'limit',
    'stores',
    'stores/store',
    'time',
    'errors',
  ],
  http: outer,
  client: [...outer, 'stores'],
  testing: 'any',
}
const mayImportNode = ['http']

/** The specifiers of a file's static, re-exporting and dynamic imports. Comments do not count. @param {string} source */
export function importsOf(source) {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
  const pattern =
    /^\s*(?:import|export)\s[^'"`;=]*?\bfrom\s*['"]([^'"]+)|^\s*import\s*['"]([^'"]+)|\bimport\(\s*['"]([^'"]+)/gm
  return [...code.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
}

/** The room of a library file, e.g. `stores/memory/store.ts` → `stores`. @param {string} path relative to src */
function roomOf(path) {
  const name = path.replace(/\.ts$/, '')
  return name in mayImport ? name : (name.split('/')[0] ?? name)
}

/**
 * Says what is wrong with one import, or nothing.
 * @param {string} file path from the workspace root
 * @param {string} specifier
 * @param {string[]} publicEntries what the packages export, e.g. `sluice/redis`
 * @returns {string | undefined}
 */
export function problemOf(file, specifier, publicEntries) {
  const target = specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : undefined
  return file.startsWith(library)
    ? problemInside(file.slice(library.length), specifier, target)
    : problemOutside(file, specifier, target, publicEntries)
}

/** @param {string} path @param {string} specifier @param {string | undefined} target */
function problemInside(path, specifier, target) {
  const room = roomOf(path)
  const allowed = mayImport[room]
  if (!allowed)
    return `there is no room named ${room}; add it to mayImport in scripts/check-imports.mjs`
  if (!target) {
    if (specifier.startsWith('node:') && mayImportNode.includes(room)) return undefined
    return 'the library has no dependencies and no Node built-ins outside http'
  }
  if (!target.startsWith(library)) return 'the library imports only its own sources'
  const other = roomOf(target.slice(library.length))
  if (other === 'index') return "nobody imports the package's own root"
  if (other === room || allowed === 'any' || allowed.includes(other)) return undefined
  return `${room} may import ${allowed.join(', ') || 'nothing'}`
}

/** @param {string} file @param {string} specifier @param {string | undefined} target @param {string[]} publicEntries */
function problemOutside(file, specifier, target, publicEntries) {
  const entered = /^packages\/[^/]+\//.exec(target ?? '')?.[0]
  const reachesIn = entered !== undefined && !file.startsWith(entered)
  const isOurs = specifier.startsWith('sluice/') || specifier.startsWith('@sluice/')
  if ((!reachesIn && !isOurs) || publicEntries.includes(specifier)) return undefined
  return `only the public entries may be imported: ${publicEntries.join(', ')}`
}

/** All broken rules, as `file: imports 'x': why`. */
export function checkImports() {
  const publicEntries = readdirSync(`${root}packages`).flatMap(entriesOf)
  const problems = []
  for (const file of filesUnder(['packages', 'bench', 'examples'])) {
    const specifiers = importsOf(readFileSync(root + file, 'utf8'))
    for (const specifier of specifiers) {
      const problem = problemOf(file, specifier, publicEntries)
      if (problem) problems.push(`${file}: imports '${specifier}': ${problem}`)
    }
  }
  return problems
}

/** What a package exports, as others import it. @param {string} name */
function entriesOf(name) {
  const manifest = JSON.parse(readFileSync(`${root}packages/${name}/package.json`, 'utf8'))
  return Object.keys(manifest.exports ?? {}).map((entry) => posix.join(manifest.name, entry))
}

/** Source files below some folders; the library's tests are exempt. @param {string[]} folders */
function filesUnder(folders) {
  return folders
    .flatMap((folder) =>
      readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map(
        (path) => `${folder}/${path}`,
      ),
    )
    .filter(
      (path) => /\.[mc]?[jt]s$/.test(path) && !/(^|\/)(node_modules|dist(-[^/]*)?)\//.test(path),
    )
    .filter((path) => !path.startsWith('packages/sluice/test/'))
    .filter((path) => !(path.startsWith(library) && /\.test(-d)?\.ts$/.test(path)))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const problems = checkImports()
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length > 0 ? 1 : 0
}
