// Reads the files that commands are given.
import { readFile } from 'node:fs/promises'
import { unreadable } from './mistake.ts'

/** The text of a file. Rejects with `Unreadable`. */
export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw unreadable(file, error)
  }
}
