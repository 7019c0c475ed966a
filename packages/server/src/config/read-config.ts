// From the text of a file and the environment to a configuration, or to the list of all mistakes.
import type { Policy } from 'sluice'
import { hiddenRoute } from 'sluice/http'
import type { Config, ListenerConfig } from './config.ts'
import { readDocument, type SourceDocument } from './document.ts'
import { applyEnvironment, type Environment } from './environment.ts'
import { readPolicies } from './policies.ts'
import {
  type ConfigProblem,
  type ConfigRemark,
  didYouMean,
  pathText,
  shown,
  type Step,
} from './problem.ts'
import { withOneRouteSpelling } from './route-spelling.ts'
import { placeOfField, readOutline, type OutlineIssue } from './schema.ts'
import { workerCount } from './shape/workers.ts'
import { untrustedAddresses } from './untrusted-addresses.ts'
import { idleVariables, unreadVariables } from './unread-variables.ts'

/** Fields whose values are not shown. */
const HIDDEN = /^webhooks\[\d+\]\.(?:url|secret)$/

/** How many mistakes of one kind are reported at most. */
const MAX_PROBLEMS = 100

/** A configuration, or what is wrong with it: everything at once. */
export interface ConfigResult {
  /** Undefined when there are problems. */
  readonly config: Config | undefined
  readonly problems: readonly ConfigProblem[]
  /** Remarks on how the file is written. */
  readonly remarks?: readonly ConfigRemark[]
  /** Whether the file is not a configuration but one of Envoy's own rate limit service. */
  readonly hasDescriptors?: boolean
  /** Where a part of the configuration is written, for later checks that report a place. */
  readonly positionOf: SourceDocument['positionOf']
}

/** Reads YAML or JSON. `file` is only a name for messages. Never throws. */
export function readConfig(
  text: string,
  file: string,
  environment: Environment = {},
): ConfigResult {
  const read = readDocument(text, file, environment)
  if ('problems' in read) return failed(read.problems)
  const { document } = read
  if (isDescriptorFile(document.value)) {
    const message = DESCRIPTOR_FILE
    return { ...failed([{ file, line: 1, column: 1, path: '', message }]), hasDescriptors: true }
  }
  const value = withOneRouteSpelling(withLongStore(withoutSchemaAddress(document.value)))
  const place = (steps: readonly Step[], message: string, isKey: boolean): ConfigProblem => {
    const position = document.positionOf(steps, isKey ? 'key' : 'value')
    return { file, ...position, path: pathText(steps), message }
  }

  const shape = readOutline(value)
  const issues = 'issues' in shape ? shape.issues : []
  // Each place is looked up in the document, which takes time: of a file full of mistakes the first ones are enough.
  const problems = issues.slice(0, MAX_PROBLEMS).map((issue) => {
    const steps = issue.path.map((step) => (typeof step === 'number' ? step : String(step)))
    return place(steps, sentence(issue, steps, value), issue.unknownField)
  })
  // Policies are read even when something around them is wrong, so that all mistakes are reported at once.
  const written = memberOf(value, 'policies')
  const policies = readPolicies(Array.isArray(written) ? (written as unknown[]) : [])
  if ('problems' in policies) {
    for (const { steps, message, unknownField } of policies.problems.slice(0, MAX_PROBLEMS))
      problems.push(place(steps, unknownField ? withPlace(message, steps) : message, unknownField))
  }
  if ('issues' in shape || 'problems' in policies) return failed(problems)
  const applied = applyEnvironment({ ...shape.outline, policies: policies.policies }, environment)
  const config = {
    ...applied.config,
    workers: workerCount(applied.config.workers, applied.config.store.kind),
  }
  const disagreements = [
    ...policyOfProxy(config),
    ...samePorts(config),
    ...hiddenRoutes(config),
    ...workersWithoutRedis(config),
  ]
  const wrong = [
    ...applied.problems,
    ...disagreements.map(({ steps, message }) => place(steps, message, false)),
  ]
  if (wrong.length > 0) return failed(wrong)
  const remarks = [
    ...document.remarks,
    ...(memberOf(value, 'trustedProxies') === undefined ? untrustedAddresses(config) : []),
    ...unreadVariables(text, environment),
    ...idleVariables(applied.idle),
  ]
  return { config, problems: [], remarks, positionOf: document.positionOf }
}

interface Disagreement {
  readonly steps: readonly Step[]
  readonly message: string
}

/** What is wrong with the policy that the reverse proxy counts by. */
function policyOfProxy({ listeners, policies }: Config): readonly Disagreement[] {
  if (listeners.proxy === undefined) return []
  const { policy } = listeners.proxy
  const names = policies.map(({ name }) => name)
  if (policy === undefined ? names.length === 1 : names.includes(policy))
    return llmOfProxy(
      listeners.proxy.llm,
      policies.find(({ name }) => name === (policy ?? name))!,
    )
  const found = policy === undefined ? 'missing' : shown(policy)
  const message = `listeners.proxy.policy is ${found}; accepted: ${names.slice(0, 10).join(', ')}`
  return [{ steps: ['listeners', 'proxy', 'policy'], message }]
}

/** Tokens can only be reserved on a rule with `hold`. */
function llmOfProxy(
  llm: readonly string[] | undefined,
  { name, rules }: Policy,
): readonly Disagreement[] {
  const reserves = rules.some(
    ({ hold, concurrency }) => hold !== undefined && concurrency === undefined,
  )
  if (llm === undefined || llm.length === 0 || reserves) return []
  const message = `listeners.proxy.llm is set, but no rule of the policy ${name} reserves units; add hold: '60s' to a rule`
  return [{ steps: ['listeners', 'proxy', 'llm'], message }]
}

/** Listeners with the same port as another one; a port of 0 is always a free one. */
function samePorts({ listeners }: Config): readonly Disagreement[] {
  const taken = new Map<string, string>()
  const found: Disagreement[] = []
  for (const [name, { host, port }] of Object.entries(listeners) as [string, ListenerConfig][]) {
    const other = taken.get(`${host} ${port}`)
    if (port === 0 || other === undefined) taken.set(`${host} ${port}`, name)
    else {
      const message = `listeners.${name}.port is ${port}, the port of listeners.${other}; accepted: a port of its own`
      found.push({ steps: ['listeners', name, 'port'], message })
    }
  }
  return found
}

/** A route that another one hides is no request's route. */
function hiddenRoutes({ proxy: { routes } }: Config): readonly Disagreement[] {
  const hidden = hiddenRoute(routes)
  if (hidden === undefined) return []
  const { position, behind } = hidden
  const message = `proxy.routes[${position}] is ${shown(routes[position])}, which matches the same paths as ${behind} in front of it; accepted: one of them`
  return [{ steps: ['proxy', 'routes', position], message }]
}

/** Several processes must share their counts: each with its own would grant the limit once more. */
function workersWithoutRedis({ workers, store }: Config): readonly Disagreement[] {
  if (workers === 1 || store.kind === 'redis') return []
  const message = `workers is ${workers}; several workers need a store that they share, such as store: redis://localhost:6379; accepted without one: 1`
  return [{ steps: ['workers'], message }]
}

function failed(problems: readonly ConfigProblem[]): ConfigResult {
  const sorted = problems.toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  )
  return { config: undefined, problems: sorted, positionOf: () => ({ line: 1, column: 1 }) }
}

function sentence(issue: OutlineIssue, steps: readonly Step[], value: unknown): string {
  const path = pathText(steps) || 'the file'
  if (issue.unknownField) {
    const name = String(steps.at(-1))
    const meant = didYouMean(name, issue.names) || misplaced(name)
    return `${path} is not a known field${meant}; accepted: ${issue.accepted}`
  }
  if (steps.length === 0 && (value === null || value === undefined))
    return 'the file is empty; accepted: an object with policies'
  const found = steps.reduce(memberOf, value)
  // A URL may hold a password, and a secret is one.
  const seen = path === 'store.url' ? 'not a URL' : HIDDEN.test(path) ? 'not valid' : shown(found)
  const is = found === undefined ? 'missing' : seen
  const meant = typeof found === 'string' ? didYouMean(found, issue.names) : ''
  return `${path} is ${is}${meant}; accepted: ${issue.accepted}`
}

/** Fields of policies, and a word of other servers, that people write at the top of a file. */
const MISPLACED = new Map([
  ['rules', 'policies[0].rules'],
  ['limit', 'policies[0].rules[0].limit'],
  ['by', 'policies[0].rules[0].by'],
  ['when', 'policies[0].rules[0].when'],
  ['redis', 'store'],
])

/** `; did you mean x.y?` for a field that has its place elsewhere in the file, or nothing. */
function misplaced(name: string): string {
  const place = MISPLACED.get(name) ?? placeOfField(name)
  return place === undefined ? '' : `; did you mean ${place}?`
}

/** Fields of limits that people write beside `limit`. */
const LIMIT_FIELDS = new Set([
  'quota',
  'window',
  'algorithm',
  'burst',
  'anchor',
  'timeZone',
  'startsOn',
  'stamps',
  'calendar',
])

/** The message about an unknown field of a policy; one that stands elsewhere in the file is named with its place. */
function withPlace(message: string, steps: readonly Step[]): string {
  const name = String(steps.at(-1))
  const isOfLimit = steps.length === 5 && steps[2] === 'rules' && LIMIT_FIELDS.has(name)
  const place = isOfLimit ? `limit: { ${name}: … }` : placeOfField(name)
  if (place === undefined) return message
  const meant = isOfLimit || place.includes('.') ? place : `${place} at the top of the file`
  return message.replace(/; did you mean [^;]*$|(?=; accepted: )/, `; did you mean ${meant}?`)
}

const DESCRIPTOR_FILE =
  "this file has descriptors of Envoy's rate limit service; name it in a configuration: envoy: { files: [this file] }, or let RUNTIME_ROOT name its folder"

/** Whether a file is one of Envoy's own rate limit service, which has another format. */
function isDescriptorFile(value: unknown): boolean {
  const isOurs = ['policies', 'listeners', 'store', 'envoy'].some(
    (name) => memberOf(value, name) !== undefined,
  )
  if (isOurs) return false
  return (
    typeof memberOf(value, 'domain') === 'string' || Array.isArray(memberOf(value, 'descriptors'))
  )
}

/** `$schema` is for editors. */
function withoutSchemaAddress(value: unknown): unknown {
  if (typeof memberOf(value, '$schema') !== 'string') return value
  const { $schema: _, ...rest } = value as Record<string, unknown>
  return rest
}

/** `store: memory` and `store: redis://…` are short for objects. */
function withLongStore(value: unknown): unknown {
  const store = memberOf(value, 'store')
  if (typeof store !== 'string') return value
  const long = store === 'memory' ? { kind: 'memory' } : { kind: 'redis', url: store }
  return { ...(value as object), store: long }
}

function memberOf(value: unknown, step: Step): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
  return (value as Record<Step, unknown>)[step]
}
