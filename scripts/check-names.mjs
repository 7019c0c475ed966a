// Holds one meaning per exported name: no two files of a package export different things under one name.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { root } from './run.mjs'

/**
 * Names that may be exported by several files of a package, with the reason.
 * @type {Record<string, string[]>}
 */
const allowed = {
  sluice: [
    // One function for each framework, at an entry of its own: `sluice/http/express`, `sluice/http/koa` and so on.
    'rateLimit',
    // The functions of the bucket algorithms, under the names of the `Algorithm` interface.
    'take',
  ],
}

/** The names that a file declares and exports; what it re-exports from elsewhere does not count. @param {string} source */
export function exportsOf(source) {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
  const declared =
    /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|class|interface|type|const|let|enum)\s+([A-Za-z_$][\w$]*)/gm
  const listed = /^export\s+(?:type\s+)?\{([^}]*)\}(?!\s*from)/gm
  const names = [...code.matchAll(declared)].map((match) => match[1] ?? '')
  const imported = [...code.matchAll(/^import\s+(?:type\s+)?\{([^}]*)\}/gm)].flatMap(
    ([, list = '']) => namesIn(list),
  )
  for (const [, list = ''] of code.matchAll(listed))
    names.push(...namesIn(list).filter((name) => !imported.includes(name)))
  return [...new Set(names.filter((name) => name !== ''))]
}

/** The names that a list in braces introduces: `a, b as c, type D` → a, c, D. @param {string} list */
function namesIn(list) {
  return list.split(',').map(
    (item) =>
      item
        .trim()
        .replace(/^type\s+/, '')
        .split(/\s+as\s+/)
        .at(-1) ?? '',
  )
}

/**
 * What is wrong with the names of one package.
 * @param {string} name
 * @param {readonly (readonly [string, string])[]} files path and source
 * @param {readonly string[]} known names that several files may export
 */
export function problemsOf(name, files, known) {
  /** @type {Map<string, string[]>} */
  const places = new Map()
  for (const [path, source] of files)
    for (const exported of exportsOf(source))
      places.set(exported, [...(places.get(exported) ?? []), path])
  return [...places]
    .filter(([exported, paths]) => paths.length > 1 && !known.includes(exported))
    .map(([exported, paths]) => `${name}: ${exported} has several meanings: ${paths.join(', ')}`)
    .sort()
}

/** All broken rules of the workspace. */
export function checkNames() {
  return readdirSync(`${root}packages`).flatMap((name) => {
    const folder = `packages/${name}/src/`
    if (!existsSync(root + folder)) return []
    const files = readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path) && !/\.test(-d)?\.tsx?$/.test(path))
      .map((path) => /** @type {const} */ ([path, readFileSync(root + folder + path, 'utf8')]))
    return problemsOf(name, files, allowed[name] ?? [])
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const problems = checkNames()
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length > 0 ? 1 : 0
}
