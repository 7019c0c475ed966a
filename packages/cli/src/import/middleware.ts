// Options of express-rate-limit and @fastify/rate-limit in our words: as a rule, and as source code.
import { duration, type Rule } from 'sluice'
import { windowText, type Note } from './imported.ts'
import type { CallOption, CallOptions } from './source.ts'

/** What became of one call. */
export interface TranslatedCall {
  /** Undefined if the numbers are computed at run time. */
  readonly rule: Rule | undefined
  /** The options of `rateLimit`, as source code; undefined if the call must be rewritten by hand. */
  readonly code: string | undefined
  readonly notes: readonly Note[]
  /** What the code says and the rule cannot. */
  readonly fileNotes: readonly Note[]
}

/** What one option of theirs becomes: lines of source code, and notes. */
interface Translation {
  readonly code?: readonly string[]
  readonly note?: string
}

type Translate = (option: CallOption, all: CallOptions) => Translation

const NOTHING: Translation = {}
const note =
  (text: string): Translate =>
  () => ({ note: text })
const renamed =
  (name: string): Translate =>
  ({ text }) => ({ code: [`${name}: ${text}`] })

/** How they count: in fixed windows, each of which begins with the first request of a key. */
const COUNTING = { algorithm: 'fixed-window', anchor: 'first' } as const

const PASS_ON_ERROR: Translate = ({ value }) => ({
  code: [`onFailure: '${value === true ? 'open' : 'closed'}'`],
})
const REFUSAL = 'is called with the request and the response, and without next and options'

/** Options of express-rate-limit. `limit`, `max`, `windowMs`, `message`, `statusCode` and the headers are read together. */
const EXPRESS: Readonly<Record<string, Translate>> = {
  windowMs: () => NOTHING,
  limit: () => NOTHING,
  max: () => NOTHING,
  message: () => NOTHING,
  statusCode: () => NOTHING,
  legacyHeaders: () => NOTHING,
  standardHeaders: () => NOTHING,
  handler: ({ text }) => ({
    code: [
      `onRefused: async (_decision, request, response) => {\n    await (${text})(request, response)\n    return 'handled'\n  }`,
    ],
    note: `handler ${REFUSAL}`,
  }),
  keyGenerator: renamed('key'),
  skip: renamed('skip'),
  ipv6Subnet: ({ value, text }) =>
    typeof value === 'number'
      ? { note: `ipv6Subnet: write address: { ipv6Prefix: ${text}, trustedProxies: [...] }` }
      : { note: 'ipv6Subnet: addresses count by their /56 network; see address.ipv6Prefix' },
  skipSuccessfulRequests: ({ value }) =>
    value === true ? { code: ['after: ({ status }) => (status < 400 ? 0 : undefined)'] } : NOTHING,
  skipFailedRequests: ({ value }) =>
    value === true ? { code: ['after: ({ status }) => (status >= 400 ? 0 : undefined)'] } : NOTHING,
  requestWasSuccessful: note(
    'requestWasSuccessful: write after, which gets the status and the response',
  ),
  passOnStoreError: PASS_ON_ERROR,
  store: note(
    'store: write store: redisStore(client) from sluice/redis, or leave it out for memory',
  ),
  requestPropertyName: note(
    'requestPropertyName: the decision is decisionOf(request) of sluice/http',
  ),
  identifier: note(
    'identifier: the name in the headers is that of the rule; write a policy to choose it',
  ),
  validate: () => NOTHING,
  logger: note('logger: write onWarning'),
  retryAfter: note(
    'retryAfter: Retry-After is the wait of the refusing rule; write spread to add to it',
  ),
  headers: note('headers: write headers with the names of dialects, or false'),
  onLimitReached: note('onLimitReached: write onRefused, or onDecision for logs'),
}

/** Options of @fastify/rate-limit. */
const FASTIFY: Readonly<Record<string, Translate>> = {
  max: () => NOTHING,
  timeWindow: () => NOTHING,
  enableDraftSpec: () => NOTHING,
  addHeaders: note('addHeaders: choose header dialects by headers'),
  addHeadersOnExceeding: note('addHeadersOnExceeding: choose header dialects by headers'),
  errorResponseBuilder: ({ text }) => ({
    code: [`onRefused: async (_decision, request) => ({ body: await (${text})(request, {}) })`],
    note: 'errorResponseBuilder gets no context; the decision has the numbers',
  }),
  keyGenerator: renamed('key'),
  allowList: ({ text, isFunction }) => ({
    code: [isFunction ? `skip: ${text}` : `skip: (request) => ${text}.includes(request.ip)`],
  }),
  skipOnError: PASS_ON_ERROR,
  cache: note('cache: write store: memoryStore({ maxKeys })'),
  redis: ({ text }) => ({
    code: [`store: redisStore(${text})`],
    note: 'redis: import redisStore from sluice/redis, and make the client with ioredisOptions()',
  }),
  nameSpace: note('nameSpace: write redisStore(client, { prefix })'),
  store: note(
    'store: write store: redisStore(client) from sluice/redis, or leave it out for memory',
  ),
  global: note('global: add the hook to the routes that it should limit'),
  hook: note('hook: name the hook in addHook'),
  ban: note('ban: write a second rule with countRefused, or the lockout of a policy'),
  continueExceeding: note('continueExceeding: write a policy whose rule has countRefused: true'),
  exponentialBackoff: note('exponentialBackoff: write a second rule with a longer window'),
  onBanReach: note('onBanReach: write onRefused'),
  onExceeding: note('onExceeding: write onDecision'),
  onExceeded: note('onExceeded: write onRefused'),
  ipv6Subnet: note('ipv6Subnet: write address: { ipv6Prefix: 64, trustedProxies: [...] }'),
  groupId: note('groupId: give the routes one guard'),
}

const REPLY = 'a policy says nothing of the reply; use onRefused in code'
const OUTCOME =
  'the service charges before the answer is known; refund those requests, or use after in code'
const SKIPPED =
  'a policy counts every request that its rules apply to; write when, or use skip in code'

/** Options that only code can carry over, and what a policy file does instead. */
const IN_CODE_ONLY: Readonly<Record<string, string>> = {
  message: REPLY,
  statusCode: REPLY,
  handler: REPLY,
  errorResponseBuilder: REPLY,
  skip: SKIPPED,
  allowList: SKIPPED,
  skipSuccessfulRequests: OUTCOME,
  skipFailedRequests: OUTCOME,
  standardHeaders: 'write headers at the top of the file',
  legacyHeaders: 'write headers at the top of the file',
  enableDraftSpec: 'write headers at the top of the file',
  passOnStoreError: 'write onStoreFailure in the rule',
  skipOnError: 'write onStoreFailure in the rule',
}

/** The options of one package. */
export interface MiddlewareDialect {
  readonly quota: readonly string[]
  readonly window: string
  readonly table: Readonly<Record<string, Translate>>
  /** Their defaults, where ours differ. */
  readonly defaults: { readonly quota: number; readonly window: number }
  readonly address: 'express' | 'fastify'
  /** The headers that they write without an option. */
  readonly headers: (options: CallOptions) => readonly string[] | undefined
}

/** Both packages, by name. */
export const MIDDLEWARE: Readonly<
  Record<'express-rate-limit' | '@fastify/rate-limit', MiddlewareDialect>
> = {
  'express-rate-limit': {
    quota: ['limit', 'max'],
    window: 'windowMs',
    table: EXPRESS,
    defaults: { quota: 5, window: 60_000 },
    address: 'express',
    headers(options) {
      const standard = options.get('standardHeaders')?.value
      const legacy = options.get('legacyHeaders')?.value
      const names = [
        ...(standard === true ? ['draft-6'] : []),
        ...(typeof standard === 'string' ? [standard] : []),
        ...(legacy === false ? [] : ['x-ratelimit-epoch']),
      ]
      return names
    },
  },
  '@fastify/rate-limit': {
    quota: ['max'],
    window: 'timeWindow',
    table: FASTIFY,
    defaults: { quota: 1000, window: 60_000 },
    address: 'fastify',
    headers: (options) => [
      options.get('enableDraftSpec')?.value === true ? 'ratelimit-triple' : 'x-ratelimit-delta',
    ],
  },
}

/** Translates the options of one call. */
export function translateCall(
  dialect: MiddlewareDialect,
  options: CallOptions,
  ruleName: string,
  line: number,
): TranslatedCall {
  const notes: Note[] = []
  const quota = dialect.quota
    .map((name) => options.get(name))
    .find((option) => option !== undefined)
  const window = options.get(dialect.window)
  const code = [limitCode(dialect, quota, window)]
  const extra = refusalCode(options)
  if (extra !== undefined) code.push(extra)
  const headers = dialect.headers(options)
  if (headers !== undefined)
    code.push(`headers: ${headers.length === 0 ? 'false' : `['${headers.join("', '")}']`}`)
  if (!options.has('keyGenerator')) code.push(`address: '${dialect.address}'`)
  for (const option of options.values()) {
    const translate = dialect.table[option.name]
    if (translate === undefined) {
      notes.push({ line: option.line, text: `${option.name} is not an option that is known` })
      continue
    }
    const translated = translate(option, options)
    for (const line of translated.code ?? []) code.push(line)
    if (translated.note !== undefined) notes.push({ line: option.line, text: translated.note })
  }
  const by = options.has('keyGenerator') ? 'key' : 'ip'
  const rule = ruleOf(dialect, quota, window, ruleName, by)
  if (quota?.isFunction === true)
    notes.push({
      line: quota.line,
      text: `${quota.name} is a function of the request: write limit: (attributes) => '100/min', and attributes for what it needs`,
    })
  else if (rule === undefined)
    notes.push({
      line,
      text: 'the limit is computed at run time; no rule was written for it',
    })
  const fileNotes = [...options.values()].flatMap(({ name, line, value }): Note[] => {
    if (name === 'keyGenerator')
      return [
        { line, text: 'keyGenerator: the rule counts by the attribute key; name the one you mean' },
      ]
    const text = Object.hasOwn(IN_CODE_ONLY, name) ? IN_CODE_ONLY[name] : undefined
    return text === undefined || value === false ? [] : [{ line, text: `${name}: ${text}` }]
  })
  return {
    rule,
    fileNotes,
    code: quota?.isFunction === true ? undefined : `{\n  ${code.join(',\n  ')},\n}`,
    notes,
  }
}

function limitCode(
  { defaults }: MiddlewareDialect,
  quota: CallOption | undefined,
  window: CallOption | undefined,
): string {
  const millis = window === undefined ? defaults.window : millisOf(window.value)
  const windowCode = millis === undefined ? window!.text : `'${windowText(millis)}'`
  const quotaCode = quota === undefined ? String(defaults.quota) : quota.text
  return `limit: { quota: ${quotaCode}, window: ${windowCode}, algorithm: '${COUNTING.algorithm}', anchor: '${COUNTING.anchor}' }`
}

/** What `message` and `statusCode` say. */
function refusalCode(options: CallOptions): string | undefined {
  const message = options.get('message')
  const status = options.get('statusCode')
  const members = [
    ...(status === undefined ? [] : [`status: ${status.text}`]),
    ...(message === undefined || message.isFunction ? [] : [`body: ${message.text}`]),
  ]
  if (message?.isFunction === true)
    return `onRefused: async (_decision, request, response) => ({ ${[...members, `body: await (${message.text})(request, response)`].join(', ')} })`
  if (members.length === 0 || options.has('handler')) return undefined
  return `onRefused: () => ({ ${members.join(', ')} })`
}

function ruleOf(
  { defaults }: MiddlewareDialect,
  quota: CallOption | undefined,
  window: CallOption | undefined,
  name: string,
  by: string,
): Rule | undefined {
  const units = quota === undefined ? defaults.quota : quota.value
  const millis = window === undefined ? defaults.window : millisOf(window.value)
  if (typeof units !== 'number' || !Number.isSafeInteger(units) || millis === undefined)
    return undefined
  const limit = { quota: units, window: windowText(millis) as '1min', ...COUNTING }
  return { name, by: [by], limit }
}

/** Milliseconds: a number, or a string such as `1 minute`. */
function millisOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0 ? value : undefined
  if (typeof value !== 'string') return undefined
  try {
    return duration(
      value.replaceAll(/\s+/g, '').replace(/(minute|hour|second|day)s?$/, shortUnit) as '1min',
    )
  } catch {
    return undefined
  }
}

function shortUnit(unit: string): string {
  return unit.startsWith('minute') ? 'min' : unit[0]!
}
