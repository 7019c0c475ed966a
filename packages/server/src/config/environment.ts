// Variables of the environment that override the file, so that one file serves all deployments.
import { duration } from 'sluice'
import { LOG_LEVELS, type LogLevel } from '../log/log.ts'
import type {
  AdminListenerConfig,
  Config,
  ListenerConfig,
  ProxyListenerConfig,
  RedisStoreConfig,
} from './config.ts'
import { shown, type ConfigProblem } from './problem.ts'
import { adminListener } from './shape/admin.ts'
import { proxyListener } from './shape/proxy-listener.ts'
import { WORKERS, workersOf } from './shape/workers.ts'
import { digestOf, isToken, TOKEN } from './tokens.ts'

/** Variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** One variable: the field it sets, what it accepts, and what it makes of a configuration. */
export interface Variable {
  readonly name: string
  readonly field: string
  readonly accepted: string
  /** Whether its value must not be shown. */
  readonly isSecret?: boolean
  /** The configuration with the value in it, or undefined when the value is not accepted. */
  readonly apply: <C extends Unread>(config: C, value: string) => C | undefined
}

/** A configuration whose policies may not be read yet. */
type Unread = Omit<Config, 'policies'>

/** Every variable, in the order in which they are documented and applied. */
export const VARIABLES: readonly Variable[] = [
  {
    name: 'REDIS_URL',
    field: 'store.url',
    accepted: "a URL such as 'redis://127.0.0.1:6379'; the store becomes Redis",
    apply: (config, url) =>
      /^rediss?:\/\/\S+$/.test(url) ? { ...config, store: { ...redisOf(config), url } } : undefined,
  },
  {
    name: 'SLUICE_REDIS_PREFIX',
    field: 'store.prefix',
    accepted: 'a string without { and }, at most 32 bytes; has an effect only with a Redis store',
    apply: (config, prefix) =>
      /^[^{}]{1,32}$/.test(prefix) ? withRedis(config, { prefix }) : undefined,
  },
  {
    name: 'SLUICE_REDIS_TIMEOUT',
    field: 'store.timeout',
    accepted: "a duration such as '50ms'; has an effect only with a Redis store",
    apply: (config, value) => {
      const timeout = millisOf(value)
      return timeout === undefined ? undefined : withRedis(config, { timeout })
    },
  },
  ...addressOf('http', (config, address) => withListener(config, 'http', address)),
  ...addressOf('grpc', (config, address) => withListener(config, 'grpc', address)),
  // The upstream switches the proxy on; without one the others have no effect.
  {
    name: 'SLUICE_PROXY_UPSTREAM',
    field: 'listeners.proxy.upstream',
    accepted: "a URL such as 'http://127.0.0.1:3000', without a path",
    apply: (config, upstream) => withProxy(config, { upstream }),
  },
  ...addressOf('proxy', (config, address) =>
    config.listeners.proxy === undefined ? config : withProxy(config, address),
  ),
  // A token switches the admin API on; without one the others have no effect.
  {
    name: 'SLUICE_ADMIN_TOKEN',
    field: 'listeners.admin',
    accepted: TOKEN,
    isSecret: true,
    apply: (config, token) =>
      isToken(token)
        ? withAdmin(config, { tokenDigest: digestOf(token).toString('hex') })
        : undefined,
  },
  {
    name: 'SLUICE_ADMIN_TOKEN_FILE',
    field: 'listeners.admin.tokenFile',
    accepted: 'the path of a file',
    apply: (config, tokenFile) => withAdmin(config, { tokenFile }),
  },
  ...addressOf('admin', (config, address) =>
    config.listeners.admin === undefined ? config : withAdmin(config, address),
  ),
  {
    name: 'SLUICE_SHUTDOWN_DELAY',
    field: 'shutdown.delay',
    accepted: "a duration such as '5s'",
    apply: (config, value) => {
      const delay = millisOf(value)
      return delay === undefined
        ? undefined
        : { ...config, shutdown: { ...config.shutdown, delay } }
    },
  },
  {
    name: 'SLUICE_WORKERS',
    field: 'workers',
    accepted: WORKERS,
    apply: (config, value) => {
      const workers = workersOf(value)
      return workers === undefined ? undefined : { ...config, workers }
    },
  },
  {
    name: 'SLUICE_LOG',
    field: 'log',
    accepted: LOG_LEVELS.join(', '),
    apply: (config, value) =>
      LOG_LEVELS.includes(value as LogLevel) ? { ...config, log: value as LogLevel } : undefined,
  },
]

/** What the environment makes of a configuration. */
interface Applied<C> {
  readonly config: C
  readonly problems: readonly ConfigProblem[]
  /** Variables that were set and had no effect, since the configuration lacks what they change. */
  readonly idle: readonly Variable[]
}

/** The configuration with the variables applied. Empty variables count as not set. */
export function applyEnvironment<C extends Unread>(
  config: C,
  environment: Environment,
): Applied<C> {
  const problems: ConfigProblem[] = []
  const idle: Variable[] = []
  let applied = config
  for (const variable of VARIABLES) {
    const { name, field, accepted, apply, isSecret = false } = variable
    const value = environment[name]
    if (value === undefined || value === '') continue
    const next = apply(applied, value)
    if (next === applied) idle.push(variable)
    if (next !== undefined) applied = next
    else {
      // The value of a URL may hold a password, and is left out.
      const found = name === 'REDIS_URL' ? 'not a Redis URL' : isSecret ? 'wrong' : shown(value)
      const message = `${name} is ${found}; accepted: ${accepted}`
      problems.push({ file: 'environment', path: field, message })
    }
  }
  return { config: applied, problems, idle }
}

/** The two variables of a listener's address. */
function addressOf(
  listener: 'http' | 'grpc' | 'proxy' | 'admin',
  withAddress: <C extends Unread>(config: C, address: Partial<ListenerConfig>) => C | undefined,
): readonly Variable[] {
  const prefix = `SLUICE_${listener.toUpperCase()}`
  return [
    {
      name: `${prefix}_HOST`,
      field: `listeners.${listener}.host`,
      accepted: "an address to listen on, such as '0.0.0.0'",
      apply: (config, host) => withAddress(config, { host }),
    },
    {
      name: `${prefix}_PORT`,
      field: `listeners.${listener}.port`,
      accepted: 'a whole number from 0 to 65535',
      apply: (config, value) =>
        /^\d{1,5}$/.test(value) && Number(value) < 65_536
          ? withAddress(config, { port: Number(value) })
          : undefined,
    },
  ]
}

function withListener<C extends Unread>(
  config: C,
  listener: 'http' | 'grpc',
  address: Partial<ListenerConfig>,
): C {
  const { listeners } = config
  if (listener === 'http')
    return { ...config, listeners: { ...listeners, http: { ...listeners.http, ...address } } }
  const grpc = { host: '127.0.0.1', port: 8081, ...listeners.grpc, ...address }
  return { ...config, listeners: { ...listeners, grpc } }
}

/** The shape fills in defaults and checks the rest. */
function withProxy<C extends Unread>(
  config: C,
  fields: Partial<ProxyListenerConfig>,
): C | undefined {
  const { listeners } = config
  const { success, data } = proxyListener.safeParse({ ...listeners.proxy, ...fields })
  return success ? { ...config, listeners: { ...listeners, proxy: data } } : undefined
}

function withAdmin<C extends Unread>(config: C, fields: Partial<AdminListenerConfig>): C {
  const { listeners } = config
  const admin = { ...(listeners.admin ?? adminListener.parse({})), ...fields }
  return { ...config, listeners: { ...listeners, admin } }
}

function redisOf({ store }: Unread): RedisStoreConfig {
  const plain = { kind: 'redis', url: '', prefix: 'sl:', timeout: 100, cluster: false } as const
  return store.kind === 'redis' ? store : plain
}

function withRedis<C extends Unread>(config: C, fields: Partial<RedisStoreConfig>): C {
  return config.store.kind === 'redis'
    ? { ...config, store: { ...config.store, ...fields } }
    : config
}

function millisOf(text: string): number | undefined {
  try {
    return duration(/^\d+$/.test(text) ? Number(text) : (text as '1s'))
  } catch {
    return undefined
  }
}
