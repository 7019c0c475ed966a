// Brings node_modules up to date with the lock file, and does nothing when it already is.
import { lstatSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { root, run } from './run.mjs'

/** Holds the id of the process that installs: two at once would empty the folder under each other. */
const LOCK = `${root}.installing`

/** Without the options of an outer npm, as in `npm pack -w sluice --dry-run`, which would keep it from installing. */
const plain = {
  npm_config_workspace: undefined,
  npm_config_workspaces: undefined,
  npm_config_dry_run: undefined,
}

/** Runs `npm ci` when nothing is installed or the lock file is newer than what is; ends the process if that fails. */
export async function ensureInstalled() {
  // `npm ci` would empty the folder that a link leads to.
  if (lstatSync(`${root}node_modules`, { throwIfNoEntry: false })?.isSymbolicLink()) return
  if (isInstalled()) return
  await lock()
  const unlock = () => rmSync(LOCK, { force: true })
  process.once('exit', unlock)
  // While this one waited, another may have installed everything.
  if (!isInstalled()) {
    console.log('Installing dependencies (npm ci) ...')
    const code = await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      env: plain,
    })
    if (code !== 0) {
      console.error('npm ci failed; see the lines above.')
      process.exit(code)
    }
  }
  process.off('exit', unlock)
  unlock()
}

function isInstalled() {
  return modifiedAt('node_modules/.package-lock.json') >= modifiedAt('package-lock.json')
}

/** Waits until no other process of this machine installs here. */
async function lock() {
  for (let isTold = false; ; isTold = true) {
    try {
      writeFileSync(LOCK, `${process.pid}`, { flag: 'wx' })
      return
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
    }
    if (!holderLives()) rmSync(LOCK, { force: true })
    else if (!isTold) console.log('Waiting for another npm ci in this folder ...')
    await sleep(200)
  }
}

/** Whether the process that holds the lock still runs; one that was killed leaves the file behind. */
function holderLives() {
  try {
    process.kill(Number(readFileSync(LOCK, 'utf8')), 0)
    return true
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}

/** @param {string} path */
function modifiedAt(path) {
  return statSync(root + path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
