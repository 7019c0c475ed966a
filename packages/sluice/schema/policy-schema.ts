// The JSON Schema of policies, written from the parser's own tables; `spec/policy.schema.json` is its output.
import {
  COORDINATION,
  LONGEST_LIST,
  LONGEST_NAME,
  NAME_PATTERN,
  ON_EXCEED,
  ON_STORE_FAILURE,
} from '../src/policy/fields.ts'
import { MAX_POOLS } from '../src/policy/read-pools.ts'
import type {
  Lockout,
  Override,
  Policy,
  Pool,
  Rule,
  Tiers,
  TokenWeights,
} from '../src/policy/policy.ts'
import { conditionSchemas } from './schema-condition.ts'
import { limitSchemas } from './schema-limit.ts'
import { flag, listOf, ref, table, units, type Schema } from './schema-parts.ts'

/**
 * The schema of what `parsePolicy` accepts, in draft 2020-12. A schema cannot say everything: names
 * that repeat, the syntax of addresses, a burst beside a window algorithm and numbers that become too
 * large together are found by the parser only.
 */
export function policySchema(): Schema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:sluice:policy:1',
    title: 'Sluice policy',
    description: 'A named set of rules; a request must pass all that apply.',
    ...table<Policy>(
      {
        name: { ...ref('name'), description: 'The name of the policy.' },
        rules: {
          ...listOf(ref('rule')),
          minItems: 1,
          description: 'The rules, each with a name of its own.',
        },
      },
      ['name', 'rules'],
    ),
    $defs: {
      name: {
        title: 'Name',
        description: 'Printable ASCII, since names travel in HTTP headers.',
        type: 'string',
        pattern: NAME_PATTERN,
        maxLength: LONGEST_NAME,
      },
      attribute: {
        title: 'Attribute',
        description: 'The name of something that is known of a request, such as user or ip.',
        type: 'string',
        minLength: 1,
        maxLength: LONGEST_NAME,
      },
      rule,
      lockout,
      pool,
      tiers,
      override,
      ...conditionSchemas(),
      ...limitSchemas(),
    },
  }
}

const weight: Schema = { type: 'number', minimum: 0, maximum: 1_000_000 }

const rule: Schema = {
  title: 'Rule',
  description: 'When it applies, whom it counts by, and the limit.',
  ...table<Rule>(
    {
      name: { ...ref('name'), description: 'The name of the rule, unique within the policy.' },
      when: {
        ...ref('condition'),
        description: 'The rule applies only when all of it holds. Default: always.',
      },
      by: {
        ...listOf(ref('attribute')),
        uniqueItems: true,
        description:
          'The attributes that make the key; [] is one count for everybody. The rule is skipped when one is not known.',
      },
      limit: {
        ...ref('limit'),
        description: 'The limit, unless a tier or an override says another.',
      },
      candidate: {
        ...ref('limit'),
        description:
          "A limit on trial beside the rule's own: decided on the same requests, in counts of its own, never enforced.",
      },
      tiers: ref('tiers'),
      overrides: {
        ...listOf(ref('override')),
        description: 'Other limits for some keys. The first that matches wins, before the tiers.',
      },
      cost: {
        description:
          'Units per request: a number, or the attribute that holds it. Default: the cost of the call.',
        anyOf: [units('Units per request.', 0), ref('attribute')],
      },
      shadow: flag('Counted, never enforced.'),
      onStoreFailure: {
        description: 'When the store cannot answer: count in this process, let through, or refuse.',
        enum: ON_STORE_FAILURE,
      },
      coordination: {
        description:
          'How the processes of a fleet share the counts: a round trip per request, leased units, counts that are added up, a share each, or leased while a key is hot. Default: strict.',
        enum: COORDINATION,
      },
      countRefused: flag('Refused requests are charged too, so that hammering keeps a key shut.'),
      onExceed: {
        description: 'Over the limit: refuse the request, or let it pass and mark the decision.',
        enum: ON_EXCEED,
        default: 'refuse',
      },
      lockout: ref('lockout'),
      pools: {
        ...listOf(ref('pool')),
        minItems: 1,
        maxItems: MAX_POOLS,
        description:
          'What a request draws from when the limit has no room for it: the first pool that has room pays all of it.',
      },
      thresholds: {
        type: 'array',
        items: { type: 'integer', minimum: 1, maximum: 100 },
        minItems: 1,
        maxItems: 10,
        uniqueItems: true,
        description:
          'Percent of the quota at which an event says that a key has used so much, such as [80, 100].',
      },
      hidden: flag('Not shown in response headers.'),
      hold: {
        description:
          'Units that are reserved, and slots, come free after so long unless they are settled. Makes the rule a budget. Default with true, concurrency or a field of budgets: 60s.',
        anyOf: [ref('duration'), { const: true }],
      },
      debt: {
        description:
          'By how many units a settlement may exceed the limit; true: by as many as the limit has.',
        anyOf: [{ type: 'boolean' }, units('Units of debt.', 0)],
      },
      holdShare: {
        description:
          'The largest part of the limit that one reservation, and one caller, holds. Default: 0.5.',
        type: 'number',
        exclusiveMinimum: 0,
        maximum: 1,
      },
      weights: {
        title: 'Weights',
        description: 'What one token of each kind costs, in units. Default: 1.',
        ...table<TokenWeights>({ input: weight, cached: weight, output: weight }, []),
      },
      concurrency: {
        ...units('Requests at once, each in a slot that ends after hold; instead of limit.', 1),
        maximum: 100_000,
      },
    },
    ['name', 'by'],
  ),
  anyOf: [
    { properties: { limit: {} }, required: ['limit'] },
    { properties: { concurrency: {} }, required: ['concurrency'] },
  ],
}

const lockout: Schema = {
  title: 'Lockout',
  description: 'Shuts a key of the rule for a time after many refusals.',
  ...table<Lockout>(
    {
      after: { ...units('Refusals that lead to a lock.', 1), maximum: 1_000_000 },
      for: { ...ref('duration'), description: 'How long the first lock lasts.' },
      grow: {
        ...units('How much longer each lock is than the one before. Default: 1.', 1),
        maximum: 1000,
      },
      upTo: {
        ...ref('duration'),
        description: 'The longest lock. Default: a day if locks grow, but never shorter than for.',
      },
      within: {
        ...ref('duration'),
        description: "The time within which refusals count together. Default: the limit's window.",
      },
    },
    ['after', 'for'],
  ),
}

const pool: Schema = {
  title: 'Pool',
  description: 'A pool behind the limit of a rule, such as credits that were bought.',
  ...table<Pool>(
    {
      name: { ...ref('name'), description: 'The name of the pool, unique within the rule.' },
      limit: ref('limit'),
    },
    ['name', 'limit'],
  ),
}

const tiers: Schema = {
  title: 'Tiers',
  description:
    "The limit chosen by an attribute, such as plan. Values that are not listed get the rule's own limit.",
  ...table<Tiers>(
    {
      attribute: ref('attribute'),
      limits: {
        description: 'The limits, by the value of the attribute.',
        type: 'object',
        propertyNames: { type: 'string', minLength: 1 },
        additionalProperties: ref('limitOrNone'),
        minProperties: 1,
        maxProperties: LONGEST_LIST,
      },
    },
    ['attribute', 'limits'],
  ),
}

const override: Schema = {
  title: 'Override',
  description: 'Another limit for the requests that match.',
  ...table<Override>(
    { when: { ...ref('condition'), type: 'object', minProperties: 1 }, limit: ref('limitOrNone') },
    ['when', 'limit'],
  ),
}
