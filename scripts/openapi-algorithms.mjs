// Generates the list of algorithms in spec/openapi.json; the rest of the file is written by hand.
import { readFile } from 'node:fs/promises'
import { execute, importSource } from './library-sources.mjs'
import { root } from './run.mjs'

/** The document with the algorithms of the table. */
export async function makeOpenapi() {
  const { ALGORITHMS } = await importSource('algorithms/table')
  const document = JSON.parse(await readFile(`${root}spec/openapi.json`, 'utf8'))
  document.components.schemas.Limit.properties.algorithm.enum = ALGORITHMS
  const text = JSON.stringify(document, undefined, 2)
  return execute('oxfmt', ['--stdin-filepath=openapi.json'], text)
}
