// A folder for the files of one test.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** An empty folder that goes with the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sluice-lab-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Writes a file into a folder of its own and gives its path. */
export function fileWith(text: string, name = 'sluice.yaml'): string {
  const file = join(folder(), name)
  writeFileSync(file, text)
  return file
}
