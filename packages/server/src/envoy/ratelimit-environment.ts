// The environment of Envoy's own rate limit service as a configuration, so that a trial is another image and nothing else.
import { join } from 'node:path'
import type { Environment } from '../config/environment.ts'
import type { ConfigProblem } from '../config/problem.ts'
import { readConfig, type ConfigResult } from '../config/read-config.ts'

/** Variables whose other values ask for something that is not there. */
const ONLY: Readonly<Record<string, readonly string[]>> = {
  BACKEND_TYPE: ['redis'],
  REDIS_TYPE: ['single', 'cluster'],
  CONFIG_TYPE: ['file'],
  SHADOW_MODE: ['false'],
  REDIS_SOCKET_TYPE: ['tcp', 'tls'],
}

/** Variables that ask for something else than the service does, or that it does in its own way. */
const WITHOUT_EFFECT = [
  'GRPC_MAX_CONNECTION_AGE',
  'GRPC_MAX_CONNECTION_AGE_GRACE',
  'LIMIT_LIMIT_HEADER',
  'LIMIT_REMAINING_HEADER',
  'LIMIT_RESET_HEADER',
  'LOG_FORMAT',
  'REDIS_PERSECOND',
  'REDIS_TLS_CLIENT_CERT',
  'REDIS_TLS_CLIENT_KEY',
  'REDIS_TLS_CACERT',
  'REDIS_TLS_SKIP_HOSTNAME_VERIFICATION',
  'USE_STATSD',
  'USE_DOG_STATSD',
  'PROMETHEUS_ADDR',
  'PROMETHEUS_PATH',
  'TRACING_ENABLED',
]

/** The variables of Envoy's own service that are set and have no effect here. */
export function ignoredVariables(environment: Environment): readonly string[] {
  return WITHOUT_EFFECT.filter((name) => !/^(?:false|0|f)?$/i.test(environment[name] ?? ''))
}

/** What the variables of Envoy's own service say, or undefined when `RUNTIME_ROOT` is not among them. */
export function ratelimitConfig(environment: Environment): ConfigResult | undefined {
  const root = environment['RUNTIME_ROOT']
  if (root === undefined || root === '') return undefined
  const problems = [
    ...Object.entries(ONLY).flatMap(([name, accepted]) =>
      problemOf(name, environment[name], accepted),
    ),
    // A socket that nothing listens on would let every request pass.
    ...problemOf('GRPC_UDS', environment['GRPC_UDS'], ['nothing: use GRPC_HOST and GRPC_PORT']),
  ]
  if (problems.length > 0)
    return { config: undefined, problems, positionOf: () => ({ line: 1, column: 1 }) }
  const { RUNTIME_SUBDIRECTORY: folder = '', RUNTIME_APPDIRECTORY: inner = 'config' } = environment
  const config = {
    listeners: {
      http: addressOf(environment['HOST'], environment['PORT'], 8080),
      grpc: {
        ...addressOf(environment['GRPC_HOST'], environment['GRPC_PORT'], 8081),
        ...tlsOf(environment),
      },
      debug: addressOf(environment['DEBUG_HOST'], environment['DEBUG_PORT'], 6070),
    },
    store: storeOf(environment),
    ...logOf(environment['LOG_LEVEL']),
    envoy: {
      files: [join(root, folder, inner)],
      mergeDomains: isOn(environment['MERGE_DOMAIN_CONFIG']),
      headers: isOn(environment['LIMIT_RESPONSE_HEADERS_ENABLED'])
        ? ['retry-after', 'ratelimit-triple']
        : ['retry-after'],
      ...ratioOf(environment['NEAR_LIMIT_RATIO']),
    },
  }
  // Theirs is an address where ours is a URL, and it has been read.
  const { REDIS_URL: _, ...rest } = environment
  return readConfig(JSON.stringify(config), 'environment', rest)
}

function problemOf(
  name: string,
  value: string | undefined,
  accepted: readonly string[],
): readonly ConfigProblem[] {
  if (value === undefined || value === '' || accepted.includes(value.toLowerCase())) return []
  const message = `${name} is ${JSON.stringify(value)}; accepted: ${accepted.join(', ')}`
  return [{ file: 'environment', path: name, message }]
}

function addressOf(host: string | undefined, port: string | undefined, usual: number): object {
  return { host: host || '0.0.0.0', port: port ? Number(port) : usual }
}

/** Keys and certificates of the gRPC port; a client needs a certificate when an authority is named. */
function tlsOf(environment: Environment): object {
  if (!isOn(environment['GRPC_SERVER_USE_TLS'])) return {}
  const { GRPC_SERVER_TLS_CERT: cert, GRPC_SERVER_TLS_KEY: key } = environment
  const { GRPC_CLIENT_TLS_CACERT: ca, GRPC_CLIENT_TLS_SAN: name } = environment
  return { tls: { cert, key, ...(ca && { ca }), ...(name && { clientNames: [name] }) } }
}

function storeOf(environment: Environment): object {
  const { REDIS_URL: address = '', REDIS_AUTH: auth = '', REDIS_TYPE: type = '' } = environment
  if (address === '') return { kind: 'memory' }
  // Of a cluster any node will do; it names the others.
  const [first = ''] = address.split(',')
  const isTls =
    isOn(environment['REDIS_TLS']) || environment['REDIS_SOCKET_TYPE']?.toLowerCase() === 'tls'
  const scheme = isTls ? 'rediss' : 'redis'
  const password = auth === '' ? '' : `:${encodeURIComponent(auth)}@`
  const prefix = environment['CACHE_KEY_PREFIX']
  return {
    kind: 'redis',
    url: /^rediss?:\/\//.test(first) ? first : `${scheme}://${password}${first}`,
    cluster: type.toLowerCase() === 'cluster',
    ...(prefix && { prefix }),
  }
}

/** The levels of their log by the names of ours; others are left to our own setting. */
const LOG_LEVELS: Readonly<Record<string, string>> = {
  trace: 'debug',
  debug: 'debug',
  info: 'info',
  warn: 'warn',
  warning: 'warn',
  error: 'error',
  fatal: 'error',
  panic: 'error',
}

function logOf(level = ''): object {
  const log = LOG_LEVELS[level.toLowerCase()]
  return log === undefined ? {} : { log }
}

function ratioOf(text = ''): object {
  return text === '' ? {} : { nearLimitRatio: Number(text) }
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && /^(?:true|1|t)$/i.test(value)
}
