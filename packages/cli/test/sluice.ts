// Runs the built `sluice` command as its users do: the real file, in a process of its own.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const main = fileURLToPath(new URL('../bin/sluice.js', import.meta.url))

/** A command that runs, or has ended. */
export interface Command {
  readonly child: ChildProcess
  readonly ended: Promise<{ code: number | null; printed: string; errors: string }>
  /** What it has printed so far. */
  readonly printed: () => string
  readonly errors: () => string
}

/** Starts `sluice` with some arguments, in a folder; it is killed at the end of the test at the latest. */
export function sluice(
  args: readonly string[],
  env: Record<string, string> = {},
  cwd: string = process.cwd(),
  stdin: 'ignore' | 'pipe' = 'ignore',
): Command {
  const child = spawn(process.execPath, [main, ...args], {
    cwd,
    env: { ...process.env, REDIS_URL: '', ...env },
    stdio: [stdin, 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  let errors = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (printed += text))
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const ended = once(child, 'close').then(([code]) => {
    return { code: code as number | null, printed, errors }
  })
  return { child, ended, printed: () => printed, errors: () => errors }
}

/** Writes a file for the time of the test and gives its path. */
export function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'sluice.yaml')
  writeFileSync(file, text)
  return file
}

/** Waits for the banner and gives the address in it. */
export async function urlOf({ printed, ended, child }: Command): Promise<string> {
  for (;;) {
    const url = /Listening for http on (http:\S+)\n/.exec(printed())?.[1]
    if (url !== undefined && printed().includes('Ctrl+C')) return url
    const end = await Promise.race([ended, once(child.stdout!, 'data')])
    if ('code' in end) throw new Error(`it ended with ${end.code}: ${end.errors}`)
  }
}
