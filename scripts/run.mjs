// Starts child processes for the other scripts: from the workspace root, with the workspace's own tools.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Path of a tool installed by the workspace. @param {string} name */
export const tool = (name) => `${root}node_modules/.bin/${name}`

/**
 * Runs a command with its output shown, and gives its exit code: 1 when a signal ended it, 127 when it could not
 * be started, which one sentence then tells.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined> }} [options]
 * @returns {Promise<number>}
 */
export function run(command, args, { cwd = root, env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' })
    child.on('error', (error) => {
      console.error(`Cannot run ${basename(command)}: ${why(error, command, cwd)}.`)
      resolve(127)
    })
    child.on('close', (code) => resolve(code ?? 1))
  })
}

/** @param {Error} error @param {string} command @param {string} cwd */
function why(error, command, cwd) {
  if (!('code' in error) || error.code !== 'ENOENT') return error.message
  if (!existsSync(cwd)) return `there is no folder ${cwd}`
  return command.startsWith(root)
    ? 'it is not installed. Run npm ci in the root of the workspace'
    : 'there is none on the PATH'
}
