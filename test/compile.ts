// Compiles a program of the tests, so that every supported version of Node can run it as a process of its own.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const compilerOptions =
  '--ignoreConfig --noCheck --allowJs --module nodenext --target es2023 --rewriteRelativeImportExtensions'

/** The folder of the workspace, also for compiled programs. */
export const root: string =
  process.env['SLUICE_ROOT'] ?? fileURLToPath(new URL('..', import.meta.url))

/** A compiled program. */
export interface Program {
  readonly script: string
  remove(): void
}

/** Compiles a file, given from the root of the workspace, into a folder from which it finds its dependencies. */
export async function compileProgram(source: string): Promise<Program> {
  const cache = join(root, 'node_modules/.cache/sluice')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'program-'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const options = [...compilerOptions.split(' '), '--rootDir', root, '--outDir', folder]
  await execute(join(root, 'node_modules/.bin/tsc'), [...options, join(root, source)])
  return {
    script: join(folder, source.replace(/\.ts$/, '.js')),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
