// Starts child processes for the other scripts: from the workspace root, with the workspace's own tools.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Path of a tool installed by the workspace. @param {string} name */
export const tool = (name) => `${root}node_modules/.bin/${name}`

/**
 * Runs a command with its output shown, and gives its exit code (1 when a signal ended it).
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string> }} [options]
 * @returns {Promise<number>}
 */
export function run(command, args, { cwd = root, env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' })
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}
