// Runs one measurement in a Node process of its own: a fresh heap and fresh compiled code for each.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * Starts a module with one JSON argument and gives the JSON it reports by {@link reportToParent}.
 * @param {URL} module
 * @param {unknown} input
 * @param {{ flags?: string[] }} [options] flags for Node itself
 * @returns {Promise<any>}
 */
export function measureInChild(module, input, { flags = ['--expose-gc'] } = {}) {
  const args = [...flags, fileURLToPath(module), JSON.stringify(input)]
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(output))
      else reject(new Error(`${args.join(' ')} ended with ${signal ?? code}`))
    })
  })
}

/** The argument that {@link measureInChild} gave to this process. @returns {any} */
export function inputFromParent() {
  return JSON.parse(process.argv[2] ?? '{}')
}

/** Hands the result to the parent and ends the process, whatever timers a contender left behind. @param {unknown} result */
export function reportToParent(result) {
  process.stdout.write(JSON.stringify(result), () => process.exit(0))
}
