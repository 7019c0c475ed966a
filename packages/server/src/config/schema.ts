// The shape of the file around the policies; each part says in its error what is accepted there.
import { duration } from 'sluice'
import type { DialectName } from 'sluice/http'
import { z } from 'zod'
import { HEADER_DIALECTS } from '../envoy/decide/headers.ts'
import { LOG_LEVELS } from '../service/log.ts'
import type { Config } from './config.ts'

const MILLIS = "milliseconds, or text such as '500ms', '5s' or '1min'"

/** A duration that becomes milliseconds. */
const millis = z
  .union([z.number(), z.string()], { error: MILLIS })
  .transform((value, context): number => {
    try {
      return duration(value as number)
    } catch {
      context.addIssue({ code: 'custom', message: MILLIS, input: value })
      return z.NEVER
    }
  })
const whole = (least: number, most: number) => {
  const error = `a whole number from ${least} to ${most}`
  return z.int({ error }).min(least, { error }).max(most, { error })
}
const text = (what: string) => z.string({ error: what }).min(1, { error: what })
const host = text("an address to listen on, such as '127.0.0.1'")
const port = whole(0, 65_535)

const SHARE = 'a number above 0, at most 1'

const memory = z.strictObject({
  kind: z.literal('memory'),
  maxKeys: whole(1, 2 ** 24)
    .describe('Most keys held at once.')
    .default(1_000_000),
})

const REDIS_URL = "a URL such as 'redis://127.0.0.1:6379'"
const redis = z.strictObject({
  kind: z.literal('redis'),
  url: z
    .string({ error: REDIS_URL })
    .regex(/^rediss?:\/\/\S+$/, { error: REDIS_URL })
    .describe('redis:// or rediss://, with user, password and database.'),
  prefix: z
    .string({ error: 'text without { and }, at most 32 bytes' })
    .regex(/^[^{}]{1,32}$/, { error: 'text without { and }, at most 32 bytes' })
    .describe('What every key begins with.')
    .default('sl:'),
  timeout: millis.describe('When a call is given up.').default(100),
  cluster: z
    .boolean({ error: 'true or false' })
    .describe('Whether the URL names a node of a cluster.')
    .default(false),
})

const http = z.strictObject({
  host: host.default('127.0.0.1'),
  port: port.describe('0 lets the system choose.').default(8080),
  maxBody: whole(1024, 2 ** 26)
    .describe('Most bytes of a request body.')
    .default(262_144),
  maxHeaders: whole(1024, 2 ** 20)
    .describe('Most bytes of a request’s headers.')
    .default(16_384),
  headersTimeout: millis.describe('How long a client may take to send the headers.').default(5000),
  requestTimeout: millis
    .describe('How long a client may take to send a whole request.')
    .default(10_000),
  idleTimeout: millis
    .describe('How long a connection may stay open between two requests.')
    .default(75_000),
  maxConnections: whole(1, 2 ** 20)
    .describe('Most connections at once.')
    .default(20_000),
})

const grpc = z.strictObject({
  host: host.default('127.0.0.1'),
  port: port.describe('0 lets the system choose.').default(8081),
})

const FLAG = 'true or false'
const HTTP_DIALECTS = [
  'structured',
  'draft-7',
  'draft-6',
  'draft-3',
  'x-ratelimit',
  'x-ratelimit-delta',
] as const satisfies readonly DialectName[]
const oneOf = <const T extends readonly string[]>(values: T) =>
  z.enum(values, { error: values.join(', ') })
const algorithms = [
  'token-bucket',
  'gcra',
  'leaky-bucket',
  'fixed-window',
  'sliding-window',
  'sliding-log',
] as const

const envoy = z.strictObject(
  {
    files: z
      .array(text('a file or a folder'), { error: 'a list of files and folders' })
      .describe("Files and folders in the format of Envoy's own rate limit service.")
      .default([]),
    mergeDomains: z
      .boolean({ error: FLAG })
      .describe('Whether several files may speak of one domain.')
      .default(false),
    algorithm: oneOf(algorithms)
      .describe('How the limits of those files are kept.')
      .default('fixed-window'),
    charging: oneOf(['all-or-none', 'each'])
      .describe('Whether a refused request costs nothing, or each descriptor pays for itself.')
      .default('all-or-none'),
    headers: z
      .array(oneOf(HEADER_DIALECTS), { error: 'a list of header dialects' })
      .describe('Headers for the client, beside what Envoy adds itself.')
      .default(['retry-after']),
    onStoreFailure: oneOf(['local', 'open', 'closed'])
      .describe('What the limits of those files do while a remote store cannot answer.')
      .default('local'),
    reflection: z
      .boolean({ error: FLAG })
      .describe('Whether tools may ask which services there are.')
      .default(false),
  },
  { error: 'an object with files' },
)

const FIELD = 'the name of a request field, such as x-api-key'
const proxy = z.strictObject(
  {
    routes: z
      .array(text("a pattern such as '/orders/{id}'"), { error: 'a list of patterns' })
      .describe('Patterns of paths; what matches none of them counts as one route.')
      .default([]),
    attributes: z
      .record(z.string(), z.string({ error: FIELD }).regex(/^[a-z0-9-]+$/i, { error: FIELD }), {
        error: 'attributes with the request field that holds each',
      })
      .describe('Attributes by the request field that holds them.')
      .transform((fields) =>
        Object.fromEntries(Object.entries(fields).map(([name, it]) => [name, it.toLowerCase()])),
      )
      .default({}),
    headers: z
      .array(oneOf(HTTP_DIALECTS), { error: 'a list of header dialects' })
      .describe('Header fields of the answer, for the proxy to hand on.')
      .default(['structured']),
  },
  { error: 'an object with routes, attributes and headers' },
)

const POLICIES = 'a list of at least one policy'

/** The whole file, with `store` in its long form and policies still as they were written. */
const file = z.strictObject(
  {
    policies: z
      .array(z.unknown(), { error: POLICIES })
      .min(1, { error: POLICIES })
      .describe('Each with a name of its own.'),
    store: z
      .discriminatedUnion('kind', [memory, redis], {
        error: "'memory', a Redis URL, or an object with kind memory or redis",
      })
      .describe('Where counts live.')
      .prefault({ kind: 'memory' }),
    listeners: z
      .strictObject(
        {
          http: http.describe('The HTTP API.').prefault({}),
          grpc: grpc.describe('The rate limit service of Envoy; off when left out.').optional(),
        },
        { error: 'an object with http and grpc' },
      )
      .prefault({}),
    envoy: envoy.describe('The rate limit service of Envoy, on the gRPC listener.').optional(),
    proxy: proxy.describe('The questions of proxies at /v1/auth/….').prefault({}),
    failure: z
      .strictObject(
        {
          fallbackShare: z
            .number({ error: SHARE })
            .positive({ error: SHARE })
            .max(1, { error: SHARE })
            .describe('The part of every quota that one instance grants without the store.')
            .optional(),
          replicas: whole(1, 100_000)
            .describe('Or how many instances share the limits; each then grants its part.')
            .optional(),
        },
        { error: 'an object with fallbackShare or replicas' },
      )
      .refine(
        ({ fallbackShare, replicas }) => fallbackShare === undefined || replicas === undefined,
        {
          error: 'fallbackShare or replicas, not both',
        },
      )
      .describe('What happens while a remote store cannot answer.')
      .prefault({}),
    trustedProxies: z
      .array(text("a network such as '10.0.0.0/8'"), { error: 'a list of networks' })
      .describe('The proxies whose word on the client’s address is believed.')
      .default([]),
    shutdown: z
      .strictObject(
        {
          delay: millis
            .describe('How long to say "not ready" before the ports close.')
            .default(1000),
          patience: millis.describe('How long work that has begun may take.').default(10_000),
        },
        { error: 'an object with delay and patience' },
      )
      .prefault({}),
    log: z.enum(LOG_LEVELS, { error: LOG_LEVELS.join(', ') }).default('info'),
  },
  { error: 'an object with policies' },
)

/** The same for a service whose limits stand in files of their own: it needs no policy. */
const fileBesideOthers = file.extend({
  policies: z.array(z.unknown(), { error: 'a list of policies' }).default([]),
})

/** What the shape gives: everything in place except the policies. */
export type Outline = Omit<Config, 'policies'> & { readonly policies: readonly unknown[] }

/** One mistake in the shape. */
export interface OutlineIssue {
  readonly path: readonly PropertyKey[]
  /** What is accepted there, or for an unknown field which are known. */
  readonly accepted: string
  readonly unknownField: boolean
}

/** Checks the shape; `store` must be in its long form. */
export function readOutline(
  value: unknown,
): { outline: Outline } | { issues: readonly OutlineIssue[] } {
  const shape = hasEnvoyFiles(value) ? fileBesideOthers : file
  const { success, data, error } = shape.safeParse(value, { reportInput: false })
  if (success) return { outline: data as Outline }
  const issues = error.issues.flatMap((issue): OutlineIssue[] => {
    const { path } = issue
    if (issue.code !== 'unrecognized_keys')
      return [{ path, accepted: issue.message, unknownField: false }]
    const accepted = fieldsAt(path).join(', ')
    return issue.keys.map((key) => ({ path: [...path, key], accepted, unknownField: true }))
  })
  return { issues }
}

/** The JSON Schema of the shape, without the short forms of `store` and the schema of policies. */
export function outlineSchema(): Record<string, unknown> {
  return z.toJSONSchema(file, { io: 'input', unrepresentable: 'any' })
}

function hasEnvoyFiles(value: unknown): boolean {
  const { envoy } = (value ?? {}) as { envoy?: { files?: unknown } | null }
  return Array.isArray(envoy?.files) && envoy.files.length > 0
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(file.shape),
  listeners: ['http', 'grpc'],
  'listeners.http': Object.keys(http.shape),
  'listeners.grpc': Object.keys(grpc.shape),
  envoy: Object.keys(envoy.shape),
  proxy: Object.keys(proxy.shape),
  failure: ['fallbackShare', 'replicas'],
  shutdown: ['delay', 'patience'],
  store: [...new Set([...Object.keys(memory.shape), ...Object.keys(redis.shape)])],
}

function fieldsAt(path: readonly PropertyKey[]): readonly string[] {
  return FIELDS[path.join('.')] ?? []
}
