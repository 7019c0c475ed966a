// Holds the import rules: which room of a package may import which, no cycles, and what other packages may see.
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cyclesIn } from './import-cycles.mjs'
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
  'options',
  'time',
  'errors',
]

/**
 * A room is a folder of the library's src, or a single file with rules of its own. Each may import itself and
 * the rooms named here; 'any' is every room except the package's own root, which no file imports.
 * @type {Record<string, string[] | 'any'>}
 */
const mayImport = {
  index: 'any',
  errors: [],
  time: ['errors'],
  options: ['time', 'errors'],
  algorithms: ['time'],
  limit: ['algorithms', 'options', 'time', 'errors'],
  key: ['limit', 'errors'],
  policy: ['limit', 'algorithms', 'key', 'options', 'time', 'errors'],
  decision: ['policy', 'algorithms', 'stores/store', 'limit', 'key', 'time', 'errors'],
  'stores/store': ['algorithms', 'limit', 'time', 'errors'],
  stores: ['stores/store', 'algorithms', 'limit', 'key', 'options', 'time', 'errors'],
  redis: ['stores/store', 'stores', 'algorithms', 'limit', 'key', 'options', 'time', 'errors'],
  coordination: ['stores/store', 'stores', 'algorithms', 'limit', 'options', 'time', 'errors'],
  'limiter/limiter': ['decision', 'policy', 'time'],
  resilience: ['stores/store', 'stores', 'limit', 'options', 'time', 'errors'],
  limiter: [
    'limiter/limiter',
    'resilience',
    'policy',
    'key',
    'decision',
    'limit',
    'stores',
    'stores/store',
    'options',
    'time',
    'errors',
  ],
  budgets: [
    'limiter',
    'limiter/limiter',
    'decision',
    'resilience',
    'stores',
    'stores/store',
    'algorithms',
    'limit',
    'key',
    'policy',
    'options',
    'time',
    'errors',
  ],
  http: outer,
  client: [...outer, 'resilience', 'stores'],
  simulator: [
    'coordination',
    'resilience',
    'stores',
    'stores/store',
    'algorithms',
    'limit',
    'options',
    'time',
    'errors',
  ],
  otel: ['decision'],
  testing: 'any',
}
const mayImportNode = ['http']

const base = [
  'version',
  'log',
  'health',
  'metrics',
  'observe',
  'config',
  'reload',
  'tls',
  'net',
  'store',
]
const protocols = ['http', 'envoy', 'auth', 'upstream', 'admin']
const belowProtocols = [...base, 'controls', 'limiters']
const belowService = [...belowProtocols, ...protocols, 'review']

/**
 * The rooms of the service, from the ground up: base, then controls and limiters, then the protocols, which do not
 * know each other, then review and service, which compose them, then workers.
 * @type {Record<string, string[] | 'any'>}
 */
const serverRooms = {
  index: 'any',
  version: [],
  log: [],
  health: [],
  metrics: ['version', 'log', 'health'],
  observe: ['config', 'metrics', 'log'],
  config: ['log'],
  reload: ['config', 'metrics', 'log'],
  tls: ['config', 'reload', 'metrics', 'log'],
  net: ['config', 'tls', 'metrics', 'log'],
  store: ['config', 'metrics', 'log'],
  controls: base,
  limiters: [...base, 'controls'],
  ...Object.fromEntries(protocols.map((protocol) => [protocol, belowProtocols])),
  review: [...base, 'envoy'],
  service: belowService,
  workers: [...belowService, 'service'],
}

/** @type {Record<string, string[] | 'any'>} */
const cliRooms = {
  main: 'any',
  version: [],
  terminal: [],
  top: ['terminal'],
  operate: ['terminal'],
  logs: [],
  replay: ['logs', 'terminal'],
  simulate: ['terminal'],
  bench: ['terminal'],
  report: ['replay', 'simulate', 'terminal'],
  diff: ['replay', 'terminal'],
  advice: ['replay', 'terminal'],
  demo: [],
  import: ['terminal'],
  commands: [
    'advice',
    'bench',
    'demo',
    'diff',
    'import',
    'logs',
    'replay',
    'report',
    'simulate',
    'terminal',
  ],
}

/** The packages whose rooms are named. A room is a folder of `src`, or a single file with rules of its own. */
const roomsOf = {
  [library]: mayImport,
  'packages/server/src/': serverRooms,
  'packages/cli/src/': cliRooms,
}

/** The specifiers of a file's static, re-exporting and dynamic imports. Comments do not count. @param {string} source */
export function importsOf(source) {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
  const pattern =
    /^\s*(?:import|export)\s[^'"`;=]*?\bfrom\s*['"]([^'"]+)|^\s*import\s*['"]([^'"]+)|\bimport\(\s*['"]([^'"]+)/gm
  return [...code.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
}

/** The package of a file, if its rooms are named. @param {string} file */
function packageOf(file) {
  return Object.entries(roomsOf).find(([source]) => file.startsWith(source))
}

/** The room of a file, e.g. `stores/memory/memory.ts` → `stores`. @param {string} path relative to src @param {object} rooms */
function roomOf(path, rooms) {
  const name = path.replace(/\.ts$/, '')
  return name in rooms ? name : (name.split('/')[0] ?? name)
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
  if (file.startsWith(library) && !target?.startsWith(library))
    return target ? 'the library imports only its own sources' : problemOfModule(file, specifier)
  const own = packageOf(file)
  if (own && target?.startsWith(own[0]) && !isTest(file))
    return problemOfRoom(file.slice(own[0].length), target.slice(own[0].length), own[1])
  return problemOutside(file, specifier, target, publicEntries)
}

/** @param {string} file @param {string} specifier */
function problemOfModule(file, specifier) {
  const room = roomOf(file.slice(library.length), mayImport)
  if (specifier.startsWith('node:') && mayImportNode.includes(room)) return undefined
  return 'the library has no dependencies and no Node built-ins outside http'
}

/** @param {string} path @param {string} target both relative to src @param {Record<string, string[] | 'any'>} rooms */
function problemOfRoom(path, target, rooms) {
  const room = roomOf(path, rooms)
  const allowed = rooms[room]
  if (!allowed)
    return `there is no room named ${room}; add it to the tables of scripts/check-imports.mjs`
  const other = roomOf(target, rooms)
  if (other === 'index') return "no file imports the package's own root"
  if (other === room || allowed === 'any' || allowed.includes(other)) return undefined
  return `${room} may import ${allowed.join(', ') || 'nothing'}`
}

/** The playground is part of the command line tool, and reads logs as it does. */
const isPlaygroundLog = (/** @type {string} */ file, /** @type {string | undefined} */ target) =>
  file.startsWith('packages/playground/src/') && target?.startsWith('packages/cli/src/logs/')

/** @param {string} file @param {string} specifier @param {string | undefined} target @param {string[]} publicEntries */
function problemOutside(file, specifier, target, publicEntries) {
  const entered = /^packages\/[^/]+\//.exec(target ?? '')?.[0]
  const reachesIn = entered !== undefined && !file.startsWith(entered)
  const isOurs = specifier.startsWith('sluice/') || specifier.startsWith('@sluice/')
  if ((!reachesIn && !isOurs) || publicEntries.includes(specifier)) return undefined
  if (isPlaygroundLog(file, target)) return undefined
  return `only the public entries may be imported: ${publicEntries.join(', ')}`
}

/** All broken rules, as `file: imports 'x': why`, and all cycles, as `a → b → a`. */
export function checkImports() {
  const publicEntries = readdirSync(`${root}packages`).flatMap(entriesOf)
  const problems = []
  /** @type {[string, string][]} */
  const edges = []
  for (const file of filesUnder(['packages', 'bench', 'examples'])) {
    const specifiers = importsOf(readFileSync(root + file, 'utf8'))
    for (const specifier of specifiers) {
      const problem = problemOf(file, specifier, publicEntries)
      if (problem) problems.push(`${file}: imports '${specifier}': ${problem}`)
      if (specifier.startsWith('.') && file.startsWith('packages/') && !isTest(file))
        edges.push([file, posix.join(posix.dirname(file), specifier)])
    }
  }
  return [...problems, ...cyclesOf(edges)]
}

/**
 * Import cycles between files and between rooms. Imports of types count too: files that know each other's types
 * cannot be understood, tested or moved apart either.
 * @param {[string, string][]} edges from file to file
 */
export function cyclesOf(edges) {
  const named = (/** @type {string} */ file) => {
    const own = packageOf(file)
    return own && own[0] + roomOf(file.slice(own[0].length), own[1])
  }
  const rooms = edges.flatMap(([from, to]) => {
    const [a, b] = [named(from), named(to)]
    return a && b && a !== b ? [/** @type {[string, string]} */ ([a, b])] : []
  })
  return [...cyclesIn(edges), ...cyclesIn(rooms)].map(
    (cycle) => `an import cycle: ${[...cycle, cycle[0]].join(' → ')}`,
  )
}

/** Tests may look into any room of their package. @param {string} file */
function isTest(file) {
  return /\.test(-d)?\.ts$/.test(file)
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
      (path) => /\.[mc]?[jt]sx?$/.test(path) && !/(^|\/)(node_modules|dist(-[^/]*)?)\//.test(path),
    )
    .filter((path) => !path.startsWith('packages/sluice/test/'))
    .filter((path) => !(path.startsWith(library) && isTest(path)))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const problems = checkImports()
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length > 0 ? 1 : 0
}
