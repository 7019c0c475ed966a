// The text that the service prints at its start: what is limited and how, where it listens, and what to try.
import type { Attributes, Condition, Limit, Millis, Pattern, Policy, Rule } from 'sluice'
import { signInCode } from '../admin/console/session.ts'
import { environmentToken } from '../admin/token-ring.ts'
import type { Config } from '../config/config.ts'
import { describePolicy } from '../review/describe.ts'
import type { Listener } from '../net/listener.ts'
import { withoutPasswords } from '../log/log.ts'

/** Beyond this many lines of policies, the rest is only counted. */
const MOST_LINES = 40

/**
 * The banner as text. Its commands run as they stand. With `signInAt`, the time now, it has a link that signs
 * in to the console once.
 */
export function bannerText(
  { policies, store, envoy, listeners: { proxy, admin } }: Config,
  listeners: readonly Pick<Listener, 'name' | 'url'>[],
  signInAt?: Millis,
): string {
  const described = policies.flatMap(describePolicy)
  const shown = described.slice(0, MOST_LINES)
  if (described.length > shown.length)
    shown.push(`… and ${described.length - shown.length} lines more: sluice check shows all`)
  for (const path of envoy?.files ?? []) shown.push(`the descriptors in ${path}, for Envoy`)
  const counts =
    store.kind === 'memory'
      ? `in this process, for at most ${store.maxKeys.toLocaleString('en')} keys`
      : `in Redis, ${withoutPasswords(store.url)}`
  const behind = proxy === undefined ? '' : `, in front of ${withoutPasswords(proxy.upstream)}`
  const http = listeners.find(({ name }) => name === 'http')
  const console = listeners.find(({ name }) => name === 'admin')
  const signIn =
    signInAt === undefined || admin?.tokenDigest === undefined
      ? undefined
      : signInCode(environmentToken(admin.tokenDigest), signInAt)
  return [
    'Sluice limits:',
    '',
    ...shown.map((line) => `  ${line}`),
    '',
    `Counts live ${counts}.`,
    ...listeners.map(
      ({ name, url }) => `Listening for ${name} on ${url}${name === 'proxy' ? behind : ''}`,
    ),
    ...(console === undefined || signIn === undefined
      ? []
      : [
          '',
          'Look at it (the link signs in once, within ten minutes):',
          '',
          `  ${console.url}/#sign-in=${signIn}`,
        ]),
    '',
    ...(http === undefined || policies.length === 0
      ? []
      : ['Try:', '', ...commandsFor(policies, http.url), '']),
    'Ctrl+C ends it.',
    '',
  ].join('\n')
}

function commandsFor(policies: readonly Policy[], url: string): readonly string[] {
  const [policy] = policies
  const enforced = policy?.rules.filter(({ shadow }) => shadow !== true) ?? []
  // A check takes no slot.
  const rule =
    enforced.find(({ concurrency }) => concurrency === undefined) ?? enforced[0] ?? policy?.rules[0]
  if (policy === undefined || rule === undefined) return []
  const named = policies.length > 1 ? { policy: policy.name } : {}
  const attributes = attributesFor(rule)
  const post = (path: string, body: object): string =>
    `  curl -s ${url}${path} -H 'content-type: application/json' -d '${quoted(body)}'`
  const { burst, slots } = rule.limit as Limit
  if (slots === true)
    return [
      `${post('/v1/enter', { ...named, attributes })}   # ${burst} at once; more are refused`,
      `  curl -s ${url}/metrics | grep sluice_decisions_total`,
    ]
  return [
    `${post('/v1/check', { ...named, attributes })}`,
    `${post('/v1/check', { ...named, attributes, cost: burst })}   # more than is left: refused`,
    `  curl -s ${url}/metrics | grep sluice_decisions_total`,
  ]
}

/** Attributes that fulfil the condition of a rule, where it compares strings. */
function attributesFor({ by, when = {} }: Rule): Attributes {
  const attributes: Record<string, string> = {}
  for (const name of [...Object.keys(when), ...by]) {
    const value = sampleFor(when, name)
    if (value !== undefined) attributes[name] = value
  }
  return attributes
}

const SAMPLES: Readonly<Record<string, string>> = { ip: '192.0.2.1', user: 'ann', method: 'GET' }

function sampleFor(when: Condition, name: string): string | undefined {
  const pattern = Object.hasOwn(when, name) ? when[name] : undefined
  const first = (Array.isArray(pattern) ? pattern[0] : pattern) as Exclude<
    Pattern,
    readonly unknown[]
  >
  if (first === 'absent') return undefined
  if (first === undefined || first === 'present' || first === '*') return SAMPLES[name] ?? 'demo'
  if (typeof first === 'object') {
    return 'network' in first ? first.network.split('/')[0] : String(first.equals)
  }
  return String(first).replace(/\*$/, '').split('/').length > 1 && name === 'ip'
    ? String(first).split('/')[0]
    : String(first).replace(/\*$/, 'demo')
}

/** JSON that survives single quotes of a shell. */
function quoted(body: object): string {
  return JSON.stringify(body).replaceAll("'", String.raw`'\''`)
}
