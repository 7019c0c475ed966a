// Compiles a program of the tests, so that every supported version of Node can run it as a process of its own.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/** The folder of the workspace, also for compiled programs. */
export const root: string =
  process.env['SLUICE_ROOT'] ?? fileURLToPath(new URL('..', import.meta.url))

/** A compiled program. */
export interface Program {
  readonly script: string
  remove(): void
}

/**
 * Compiles a file, given from the root of the workspace, with all that it imports. Reading hundreds of small files is half
 * of what the start of a process costs, and the tests start many.
 */
export async function compileProgram(source: string): Promise<Program> {
  const cache = join(root, 'node_modules/.cache/sluice')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'program-'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: {
      ssr: join(root, source),
      outDir: folder,
      emptyOutDir: false,
      minify: false,
      target: 'node20',
      rolldownOptions: { output: { entryFileNames: 'main.js' } },
    },
  })
  return {
    script: join(folder, 'main.js'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
