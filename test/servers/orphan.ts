// Leaves a server behind in a process that dies without a chance to clean up.
import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { compileProgram } from '../compile.ts'

const execute = promisify(execFile)

/** Starts a server from a process of its own, kills that process, and gives the server's process id and folder. */
export async function orphanServer(): Promise<{ pid: number; dir: string }> {
  const program = await compileProgram('test/servers/redis-server.ts')
  try {
    const compiled = pathToFileURL(program.script).href
    const script = `
      const { startRedis } = await import('${compiled}')
      const server = await startRedis()
      const [, dir] = await server.cli('CONFIG', 'GET', 'dir')
      const line = JSON.stringify({ pid: server.pid, dir })
      process.stdout.write(line, () => process.kill(process.pid, 'SIGKILL'))`
    const { stdout } = await outputOf(process.execPath, ['--input-type=module', '-e', script])
    return JSON.parse(stdout) as { pid: number; dir: string }
  } finally {
    program.remove()
  }
}

/** What a process wrote before it was killed. */
async function outputOf(command: string, args: string[]): Promise<{ stdout: string }> {
  try {
    return await execute(command, args)
  } catch (error) {
    const failure = error as { signal?: string; stdout: string }
    if (failure.signal !== 'SIGKILL') throw error
    return failure
  }
}
