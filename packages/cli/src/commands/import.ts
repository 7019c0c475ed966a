// `sluice import`: reads the limits of another program and writes them as a policy file; `--write` edits source code.
import { writeFile } from 'node:fs/promises'
import { readConfig } from '@sluice/server'
import { edited, SOURCES, type Imported, type Note } from '../import/imported.ts'
import { IMPORTERS, policyFileOf } from '../import/importers.ts'
import { Mistake } from '../terminal/mistake.ts'
import { readText } from '../terminal/read-text.ts'
import { print, type Streams, type TextOutput } from '../terminal/streams.ts'

/** The flags of the command. */
export interface ImportFlags {
  /** Edit the source code instead of printing a policy file. */
  readonly write?: boolean
}

/** Imports and gives the exit code: 0, or 1 if nothing was found. */
export async function importCommand(
  from: string,
  file: string,
  flags: ImportFlags,
  { stdout, stderr }: Streams,
): Promise<number> {
  const source = SOURCES.find((name) => name === from)
  if (source === undefined)
    throw new Mistake(`${from} cannot be imported; accepted: ${SOURCES.join(', ')}`)
  const text = await readText(file)
  const imported = IMPORTERS[source](text, file)
  const { notes, fileNotes = [] } = imported
  for (const note of flags.write === true ? notes : [...notes, ...fileNotes])
    print(stderr, noteText(note, file))
  if (flags.write === true) return writeBack(text, file, imported, stderr)
  const { policies } = imported
  if (policies.every(({ rules }) => rules.length === 0)) {
    print(stderr, `${file} has no limits of ${from} that can be read`)
    return 1
  }
  const yaml = policyFileOf(imported, from, file)
  const [problem] = readConfig(yaml, file).problems
  if (problem !== undefined) throw new Mistake(`the limits are not accepted: ${problem.message}`)
  print(stdout, yaml.trimEnd())
  return 0
}

async function writeBack(
  text: string,
  file: string,
  { edits }: Imported,
  stderr: TextOutput,
): Promise<number> {
  if (edits.length === 0) {
    print(stderr, `${file} was not changed`)
    return 1
  }
  await writeFile(file, edited(text, edits))
  print(stderr, `${file} was changed; review it before you run it`)
  return 0
}

function noteText(note: Note, file: string): string {
  return `${file}:${note.line === undefined ? '' : `${note.line}:`} ${note.text}`
}
