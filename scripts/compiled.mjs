// Compiles a program of the tests and runs it with the arguments of this process.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureInstalled } from './install.mjs'
import { root, run, tool } from './run.mjs'
import { ensurePrograms } from './test-programs.mjs'

const OPTIONS =
  '--ignoreConfig --noCheck --allowJs --module nodenext --target es2023 --rewriteRelativeImportExtensions'

/**
 * Runs a TypeScript file, given from the root of the workspace. Sets the exit code of this process.
 * @param {string} source
 * @param {Parameters<typeof ensurePrograms>[0]} programs that the machine must have
 */
export async function runCompiled(source, programs) {
  await ensureInstalled()
  const missing = await ensurePrograms(programs)
  for (const sentence of missing) console.error(sentence)
  if (missing.length > 0) process.exit(1)
  const cache = join(root, 'node_modules/.cache/sluice')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'script-'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  try {
    const options = [...OPTIONS.split(' '), '--rootDir', root, '--outDir', folder]
    const compiled = await run(tool('tsc'), [...options, join(root, source)])
    const script = join(folder, source.replace(/\.ts$/, '.js'))
    const args = [script, ...process.argv.slice(2)]
    process.exitCode =
      compiled || (await run(process.execPath, args, { env: { SLUICE_ROOT: root } }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
