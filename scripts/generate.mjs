// Writes the generated files; with --check it only says which of them are out of date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { generators } from './generators.mjs'
import { root } from './run.mjs'

const checkOnly = process.argv.includes('--check')

for (const { output, make } of generators) {
  const path = root + output
  const content = await make()
  if (content === read(path)) continue
  if (checkOnly) {
    console.error(`${output} is out of date: run npm run generate`)
    process.exitCode = 1
  } else {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    console.log(`wrote ${output}`)
  }
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
