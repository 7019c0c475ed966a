// Generates spec/policy.schema.json from the library's sources.
import { execute, importSource } from './library-sources.mjs'

/** The JSON Schema of policies as formatted text. */
export async function makePolicySchema() {
  const { policySchema } = await importSource('schema/policy-schema')
  const text = JSON.stringify(policySchema(), undefined, 2)
  return execute('oxfmt', ['--stdin-filepath=policy.schema.json'], text)
}
