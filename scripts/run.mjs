// Starts child processes for the other scripts: from the workspace root, with the workspace's own tools.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Path of a tool installed by the workspace. @param {string} name */
export const tool = (name) => `${root}node_modules/.bin/${name}`

/** The commands that run at present. @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()

/** Ends every command that `run` has started: SIGTERM first, SIGKILL after `patience` ms. Resolves when all have ended. */
export async function stopAll(patience = 5000) {
  const children = [...running]
  const ended = children.map((child) => new Promise((resolve) => child.once('close', resolve)))
  for (const child of children) child.kill('SIGTERM')
  const timer = setTimeout(() => {
    for (const child of children) child.kill('SIGKILL')
  }, patience)
  await Promise.all(ended)
  clearTimeout(timer)
}

/**
 * Runs a command with its output shown, and gives its exit code: 1 when a signal ended it, 127 when it could not
 * be started, which is reported in one sentence.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined> }} [options]
 * @returns {Promise<number>}
 */
export function run(command, args, { cwd = root, env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' })
    running.add(child)
    child.on('error', (error) => {
      running.delete(child)
      console.error(`Cannot run ${basename(command)}: ${why(error, command, cwd)}.`)
      resolve(127)
    })
    child.on('close', (code) => {
      running.delete(child)
      resolve(code ?? 1)
    })
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
