// Generates the list of algorithms in spec/openapi.json; the rest of the file is written by hand.
import { readFile } from 'node:fs/promises'
import { execute, importSource } from './library-sources.mjs'
import { root } from './run.mjs'

/** The document with the algorithms of the table. */
export async function makeOpenapi() {
  const { ALGORITHMS } = await importSource('src/algorithms/table')
  const document = await readFile(`${root}spec/openapi.json`, 'utf8')
  const list = /("algorithm": \{\s*"enum": )\[[^\]]*\]/
  if (!list.test(document)) throw new Error('spec/openapi.json has no list of algorithms')
  const text = document.replace(list, `$1${JSON.stringify(ALGORITHMS)}`)
  return execute('oxfmt', ['--stdin-filepath=openapi.json'], text)
}
