// Brings node_modules up to date with the lock file, and does nothing when it already is.
import { lstatSync, statSync } from 'node:fs'
import { root, run } from './run.mjs'

/** Not what an outer npm was told, as in `npm pack -w sluice --dry-run`: everything is installed, and really. */
const plain = {
  npm_config_workspace: undefined,
  npm_config_workspaces: undefined,
  npm_config_dry_run: undefined,
}

/** Runs `npm ci` when nothing is installed or the lock file is newer than what is; ends the process if that fails. */
export async function ensureInstalled() {
  // `npm ci` would empty the folder that a link leads to.
  if (lstatSync(`${root}node_modules`, { throwIfNoEntry: false })?.isSymbolicLink()) return
  const installed = modifiedAt('node_modules/.package-lock.json')
  if (installed >= modifiedAt('package-lock.json')) return

  console.log('Installing dependencies (npm ci) ...')
  const code = await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    env: plain,
  })
  if (code !== 0) {
    console.error('npm ci failed; see the lines above.')
    process.exit(code)
  }
}

/** @param {string} path */
function modifiedAt(path) {
  return statSync(root + path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
