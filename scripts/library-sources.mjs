// Lets the generators import modules of the library as its sources stand, since a build may be older than they are.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, tool } from './run.mjs'

/** @type {string | undefined} */
let compiled

/** A module of the library, named as in `packages/sluice`, without its ending. @param {string} path */
export function importSource(path) {
  compiled ??= compile()
  return import(pathToFileURL(join(compiled, `${path}.js`)).href)
}

function compile() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sources-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  // Type errors are reported by `npm run types`; here they would hide the generated text.
  const project = `${root}packages/sluice/tsconfig.schema.json`
  execute('tsc', ['-p', project, '--outDir', folder, '--noCheck'])
  return folder
}

/** What a tool of the workspace prints; throws when it fails. @param {string} name @param {string[]} args @param {string} [input] */
export function execute(name, args, input = '') {
  const { error, status, stdout, stderr } = spawnSync(tool(name), args, {
    cwd: root,
    input,
    encoding: 'utf8',
  })
  if (error) throw error
  if (status !== 0) throw new Error(`${name} failed with exit code ${status}: ${stderr}${stdout}`)
  return stdout
}
