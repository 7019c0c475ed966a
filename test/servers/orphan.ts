// Leaves a server behind in a process that dies without a chance to clean up.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const compilerOptions =
  '--ignoreConfig --noCheck --allowJs --module nodenext --target es2023 --rewriteRelativeImportExtensions'

/** Starts a server from a process of its own, kills that process, and gives the server's process id and folder. */
export async function orphanServer(): Promise<{ pid: number; dir: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-orphan-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const options = [...compilerOptions.split(' '), '--rootDir', root, '--outDir', folder]
    const source = join(root, 'test/servers/redis-server.ts')
    await execute(join(root, 'node_modules/.bin/tsc'), [...options, source])
    const compiled = pathToFileURL(join(folder, 'test/servers/redis-server.js')).href
    const script = `
      const { startRedis } = await import('${compiled}')
      const server = await startRedis()
      const [, dir] = await server.cli('CONFIG', 'GET', 'dir')
      const line = JSON.stringify({ pid: server.pid, dir })
      process.stdout.write(line, () => process.kill(process.pid, 'SIGKILL'))`
    const { stdout } = await outputOf(process.execPath, ['--input-type=module', '-e', script])
    return JSON.parse(stdout) as { pid: number; dir: string }
  } finally {
    rmSync(folder, { recursive: true, force: true })
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
