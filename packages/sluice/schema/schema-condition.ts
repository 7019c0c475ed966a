// The JSON Schema of conditions: attributes and what each must be.
import { LONGEST_LIST } from '../src/policy/fields.ts'
import { listOf, ref, table, type Schema } from './schema-parts.ts'

/** Only the outline of an address: the parser knows the rest. */
const NETWORK = '^[\\dA-Fa-f:.]+(?:/\\d{1,3})?$'

/** The named parts for conditions and patterns. */
export function conditionSchemas(): Schema {
  return {
    condition: {
      title: 'Condition',
      description: 'Attributes by name and what each must be; all must hold.',
      type: 'object',
      propertyNames: ref('attribute'),
      properties: { ip: ref('addressPattern') },
      additionalProperties: ref('pattern'),
      maxProperties: LONGEST_LIST,
    },
    ...patternSchemas('pattern', 'Pattern', {
      description:
        "'present', 'absent', a string, or a string that ends in *, which stands for any rest.",
      type: 'string',
      pattern: '^(?:[^*]+\\*?|\\*)$',
    }),
    ...patternSchemas('addressPattern', 'Pattern of an address', {
      description:
        "'present', 'absent', a network such as 10.0.0.0/8, an address, or a string that ends in *.",
      type: 'string',
      pattern: `^(?:present|absent|[^*]*\\*)$|${NETWORK}`,
    }),
  }
}

/** One pattern, or a list of which one must hold; they differ by what a bare text may be. */
function patternSchemas(name: string, title: string, text: Schema): Schema {
  const one = `${name}One`
  const single = {
    anyOf: [
      text,
      { type: ['number', 'boolean'] },
      {
        description: 'Exactly this text, number or boolean.',
        ...table<{ equals: unknown }>(
          { equals: { type: ['string', 'number', 'boolean'], minLength: 1 } },
          ['equals'],
        ),
      },
      {
        description: 'An address in this network.',
        ...table<{ network: unknown }>({ network: { type: 'string', pattern: NETWORK } }, [
          'network',
        ]),
      },
    ],
  }
  return {
    [name]: { title, anyOf: [ref(one), { ...listOf(ref(one)), minItems: 1 }] },
    [one]: single,
  }
}
