// What policies may say, as tables: the parser reads by them and the JSON Schema is written from them.
import type { Coordination, OnStoreFailure } from '../limit/verdict.ts'
import type {
  Lockout,
  OnExceed,
  Override,
  Policy,
  Pool,
  Rule,
  Tiers,
  TokenWeights,
} from './policy.ts'

/** The fields of a policy. */
export const POLICY_FIELDS: readonly (keyof Policy)[] = ['name', 'rules']

/** The fields of a rule. */
export const RULE_FIELDS: readonly (keyof Rule)[] = [
  'name',
  'when',
  'by',
  'limit',
  'candidate',
  'tiers',
  'overrides',
  'cost',
  'shadow',
  'onStoreFailure',
  'coordination',
  'countRefused',
  'onExceed',
  'lockout',
  'pools',
  'thresholds',
  'hidden',
  'hold',
  'debt',
  'holdShare',
  'weights',
  'concurrency',
]

/** The kinds of tokens that a rule may weigh. */
export const TOKEN_KINDS: readonly (keyof TokenWeights)[] = ['input', 'cached', 'output']

/** The fields of a rule that are true or false. */
export const FLAGS: readonly (keyof Rule)[] = ['shadow', 'countRefused', 'hidden']

/** The fields of a rule's tiers. */
export const TIERS_FIELDS: readonly (keyof Tiers)[] = ['attribute', 'limits']

/** The fields of an override. */
export const OVERRIDE_FIELDS: readonly (keyof Override)[] = ['when', 'limit']

/** The fields of a rule's lockout. */
export const LOCKOUT_FIELDS: readonly (keyof Lockout)[] = ['after', 'for', 'grow', 'upTo', 'within']

/** The fields of a rule's pools. */
export const POOL_FIELDS: readonly (keyof Pool)[] = ['name', 'limit']

/** What a rule may do when the store cannot answer. */
export const ON_STORE_FAILURE: readonly OnStoreFailure[] = ['local', 'open', 'closed']

/** What a rule may do with a request over its limit. */
export const ON_EXCEED: readonly OnExceed[] = ['refuse', 'mark']

/** How the processes of a fleet may share the counts of a rule. */
export const COORDINATION: readonly Coordination[] = ['strict', 'leased', 'synced', 'local', 'auto']

/** The longest name of a policy, a rule or an attribute, in characters. */
export const LONGEST_NAME = 128

/** The most entries that any list or table of a policy may have. */
export const LONGEST_LIST = 10_000

/** Names of policies and rules travel in HTTP header strings, which hold nothing else. */
export const NAME_PATTERN = '^[ -~]+$'
