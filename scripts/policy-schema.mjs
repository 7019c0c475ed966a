// Generates spec/policy.schema.json from the library's sources.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, tool } from './run.mjs'

/** The JSON Schema of policies as formatted text. Made from the sources, since a build may be older than they are. */
export async function makePolicySchema() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-schema-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    // Type errors are the business of other checks; here they would only hide the text.
    execute('tsc', ['-p', `${root}packages/sluice`, '--outDir', folder, '--noCheck'])
    const { policySchema } = await import(pathToFileURL(join(folder, 'policy/schema.js')).href)
    const text = JSON.stringify(policySchema(), undefined, 2)
    return execute('oxfmt', ['--stdin-filepath=policy.schema.json'], text)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What a tool of the workspace prints; throws when it fails. @param {string} name @param {string[]} args @param {string} [input] */
export function execute(name, args, input = '') {
  const { error, status, stdout, stderr } = spawnSync(tool(name), args, {
    cwd: root,
    input,
    encoding: 'utf8',
  })
  if (error) throw error
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}${stdout}`)
  return stdout
}
