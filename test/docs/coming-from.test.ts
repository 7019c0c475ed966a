// The migration guides name every option that the other packages have, by their own types.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

/** The members that the types of a package declare between two lines. */
function membersOf(file: string, ...blocks: string[]): readonly string[] {
  const text = read(`node_modules/${file}`)
  return blocks.flatMap((opening) => {
    const start = text.indexOf(opening)
    expect(start, `${opening} in ${file}`).toBeGreaterThan(0)
    const end = /^(\t| {0,2})?\}/m.exec(text.slice(start))!.index
    const body = text.slice(start, start + end)
    return [...body.matchAll(/^(?:\t| {4})(\w+)\??:/gm)].map(([, name]) => name!)
  })
}

/** The options in the first column of the tables of a guide. */
function tableOf(page: string): ReadonlySet<string> {
  const rows = read(`docs/guide/coming-from/${page}.md`).matchAll(/^\| (.*?) \|/gm)
  return new Set(
    [...rows].flatMap(([, cell]) => [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!)),
  )
}

describe.each([
  [
    'express-rate-limit',
    membersOf('express-rate-limit/dist/index.d.ts', 'export type Options = {'),
  ],
  [
    'fastify-rate-limit',
    membersOf(
      '@fastify/rate-limit/types/index.d.ts',
      'export interface CreateRateLimitOptions {',
      'export interface RateLimitOptions extends',
      'export interface RateLimitPluginOptions extends',
    ),
  ],
  [
    'rate-limiter-flexible',
    membersOf(
      'rate-limiter-flexible/types.d.ts',
      'interface IRateLimiterOptions {',
      'interface IRateLimiterStoreOptions extends',
      'interface IRateLimiterRedisOptions extends',
    ),
  ],
])('the guide for users of %s', (page, options) => {
  it('names every option of theirs', () => {
    expect(options.length).toBeGreaterThan(10)
    const named = tableOf(page)
    expect(options.filter((option) => !named.has(option))).toEqual([])
  })
})

describe.each(['upstash-ratelimit', 'envoy-ratelimit', 'nginx'])(
  'the guide for users of %s',
  (page) => {
    it('has a table of theirs and ours', () => {
      expect(
        tableOf(page).size + read(`docs/guide/coming-from/${page}.md`).split('\n| `').length,
      ).toBeGreaterThan(12)
    })
  },
)

// The settings of envoyproxy/ratelimit are in no package: their names, those of one family by what they begin with.
const ENVOY_SETTINGS = `PROTO HOST PORT DEBUG_HOST DEBUG_PORT GRPC_UDS GRPC_HOST GRPC_PORT GRPC_MAX_CONNECTION_AGE
  GRPC_MAX_CONNECTION_AGE_GRACE GRPC_SERVER_USE_TLS GRPC_SERVER_TLS_CERT GRPC_SERVER_TLS_KEY GRPC_CLIENT_TLS_CACERT
  GRPC_CLIENT_TLS_SAN LOG_LEVEL LOG_FORMAT CONFIG_TYPE FORCE_START_WITHOUT_INITIAL_CONFIG CONFIG_GRPC_XDS_…
  XDS_CLIENT_BACKOFF_… USE_DOG_STATSD USE_DOG_STATSD_MOGRIFIERS USE_STATSD STATSD_HOST STATSD_PORT EXTRA_TAGS
  STATS_FLUSH_INTERVAL DISABLE_STATS USE_PROMETHEUS PROMETHEUS_ADDR PROMETHEUS_PATH PROMETHEUS_MAPPER_YAML RUNTIME_ROOT
  RUNTIME_SUBDIRECTORY RUNTIME_APPDIRECTORY RUNTIME_IGNOREDOTFILES RUNTIME_WATCH_ROOT EXPIRATION_JITTER_MAX_SECONDS
  LOCAL_CACHE_SIZE_IN_BYTES NEAR_LIMIT_RATIO CACHE_KEY_PREFIX BACKEND_TYPE STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT
  LIMIT_RESPONSE_HEADERS_ENABLED LIMIT_LIMIT_HEADER LIMIT_REMAINING_HEADER LIMIT_RESET_HEADER
  HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED REDIS_SOCKET_TYPE REDIS_TYPE REDIS_URL REDIS_POOL_SIZE REDIS_AUTH REDIS_TLS
  REDIS_TLS_CLIENT_CERT REDIS_TLS_CLIENT_KEY REDIS_TLS_CACERT REDIS_TLS_SKIP_HOSTNAME_VERIFICATION
  REDIS_PIPELINE_WINDOW REDIS_PIPELINE_LIMIT REDIS_PERSECOND REDIS_PERSECOND_… REDIS_HEALTH_CHECK_ACTIVE_CONNECTION
  MEMCACHE_… SHADOW_MODE MERGE_DOMAIN_CONFIG TRACING_ENABLED TRACING_…`

it('the guide for users of envoyproxy/ratelimit names every setting of theirs', () => {
  const page = read('docs/guide/coming-from/envoy-ratelimit.md')
  const missing = ENVOY_SETTINGS.split(/\s+/).filter((name) => !page.includes(`\`${name}\``))
  expect(missing).toEqual([])
})
