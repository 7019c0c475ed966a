// Generates spec/config.schema.json from the sources of the service and of the library.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execute } from './library-sources.mjs'
import { makePolicySchema } from './policy-schema.mjs'
import { root } from './run.mjs'

/** The JSON Schema of configuration files as formatted text. */
export async function makeConfigSchema() {
  // Inside the package, where imports find its dependencies; the name is one that git and the tools ignore.
  const folder = `${root}packages/server/dist-schema-${process.pid}`
  try {
    const project = `${root}packages/server/tsconfig.schema.json`
    execute('tsc', ['-p', project, '--outDir', folder, '--noCheck'])
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const { configSchema } = await import(
      pathToFileURL(join(folder, 'schema/config-schema.js')).href
    )
    const schema = configSchema(JSON.parse(await makePolicySchema()))
    const text = JSON.stringify(schema, undefined, 2)
    return execute('oxfmt', ['--stdin-filepath=config.schema.json'], text)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
