// The JSON Schema of configuration files, for editors; `spec/config.schema.json` is its output.
import { z } from 'zod'
import { file } from '../src/config/shape/file.ts'

type Schema = Readonly<Record<string, unknown>>

/** The schema of what `readConfig` accepts, given that of policies. */
export function configSchema(policy: Schema): Schema {
  const { $schema, properties, ...rest } = z.toJSONSchema(file, {
    io: 'input',
    unrepresentable: 'any',
  }) as Schema & {
    readonly properties: Readonly<Record<string, Schema>>
  }
  const { $schema: _, $id: __, $defs, ...policySchema } = policy
  const { store, policies } = properties
  const schema = withVariables({
    $schema,
    $id: 'urn:sluice:config:1',
    title: 'Sluice configuration',
    description: 'Policies, where their counts live, and where the service listens.',
    ...rest,
    properties: {
      $schema: { type: 'string', description: 'The address of this schema, for editors.' },
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
  }) as Schema & { readonly $defs: Schema }
  const variable = {
    type: 'string',
    pattern: '\\$\\{',
    description: 'A variable of the environment: ${NAME}, or ${NAME:-default}.',
  }
  return { ...schema, $defs: { ...schema.$defs, variable } }
}

/** Values that are not just any string may also name a variable of the environment. */
const VARIABLE = { $ref: '#/$defs/variable' }

/** Keywords whose members are schemas by name. */
const NAMED = ['properties', '$defs', 'patternProperties']
/** Keywords whose members are schemas in a list. */
const LISTED = ['anyOf', 'oneOf', 'allOf']
/** Keywords that hold one schema. */
const SINGLE = ['items', 'additionalProperties', 'not']

function withVariables(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  const mapped = Object.fromEntries(
    Object.entries(schema as Schema).map(([keyword, value]): [string, unknown] => {
      if (NAMED.includes(keyword))
        return [
          keyword,
          Object.fromEntries(
            Object.entries(value as Schema).map(([name, member]) => [name, withVariables(member)]),
          ),
        ]
      if (LISTED.includes(keyword)) return [keyword, (value as unknown[]).map(withVariables)]
      return [keyword, SINGLE.includes(keyword) ? withVariables(value) : value]
    }),
  ) as Schema
  return isNarrowScalar(mapped) ? besideVariable(mapped) : mapped
}

/** Whether a schema accepts scalars, but not every string. */
function isNarrowScalar({ type, pattern, enum: values }: Schema): boolean {
  const isNumber = type === 'integer' || type === 'number' || type === 'boolean'
  return isNumber || (type === 'string' && (pattern !== undefined || values !== undefined))
}

function besideVariable({ description, default: normal, ...narrow }: Schema): Schema {
  return {
    ...(description === undefined ? {} : { description }),
    ...(normal === undefined ? {} : { default: normal }),
    anyOf: [narrow, VARIABLE],
  }
}
