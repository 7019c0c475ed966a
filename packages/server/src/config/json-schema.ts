// The JSON Schema of configuration files, for editors; `spec/config.schema.json` is its output.
import { outlineSchema } from './schema.ts'

type Schema = Readonly<Record<string, unknown>>

/** The schema of what `readConfig` accepts, given that of policies. */
export function configSchema(policy: Schema): Schema {
  const { $schema, properties, ...rest } = outlineSchema() as Schema & {
    readonly properties: Readonly<Record<string, Schema>>
  }
  const { $schema: _, $id: __, $defs, ...policySchema } = policy
  const { store, policies } = properties
  return {
    $schema,
    $id: 'urn:sluice:config:1',
    title: 'Sluice configuration',
    description: 'Policies, where their counts live, and where the service listens.',
    ...rest,
    properties: {
      ...properties,
      policies: { ...policies, items: { $ref: '#/$defs/policy' } },
      store: {
        description: 'Where counts live.',
        anyOf: [
          { const: 'memory' },
          { type: 'string', pattern: '^rediss?://\\S+$' },
          { ...store, description: 'The same in full.' },
        ],
      },
    },
    $defs: { ...($defs as Schema), policy: policySchema },
  }
}
