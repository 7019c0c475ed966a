// Builds packages/sluice: src becomes ESM, declarations and source maps in dist.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { ensureInstalled } from './install.mjs'
import { root, run, tool } from './run.mjs'

const folder = `${root}packages/sluice/`

/**
 * Compiles into a folder beside dist and then swaps the two, so that removed sources leave nothing behind
 * and a reader never sees half a build. Gives the compiler's exit code; a failed build leaves dist as it was.
 */
export async function build() {
  const next = `${folder}dist-next-${process.pid}`
  const last = `${folder}dist-last-${process.pid}`
  const code = await run(tool('tsc'), ['-p', folder, '--outDir', next])
  if (code === 0) {
    if (existsSync(`${folder}dist`)) renameSync(`${folder}dist`, last)
    renameSync(next, `${folder}dist`)
  }
  for (const path of [next, last]) rmSync(path, { recursive: true, force: true })
  return code
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  // `npm pack` in a fresh clone comes here first.
  if (!existsSync(tool('tsc'))) await ensureInstalled()
  process.exitCode = await build()
}
