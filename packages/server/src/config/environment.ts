// What the environment may say over the file, so that one file serves every place it runs in.
import { duration } from 'sluice'
import { LOG_LEVELS, type LogLevel } from '../log/log.ts'
import { ADMIN_VARIABLES } from './admin-environment.ts'
import type { ListenerConfig, RedisStoreConfig } from './config.ts'
import { shown, type ConfigProblem } from './problem.ts'
import { PROXY_VARIABLES } from './proxy-environment.ts'
import { WORKERS, workersOf } from './shape/workers.ts'
import type { Environment, Unread, Variable } from './variable.ts'

export type { Environment, Variable } from './variable.ts'

const PORT = 'a whole number from 0 to 65535'

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
    accepted: 'a string without { and }, at most 32 bytes; without a Redis store it means nothing',
    apply: (config, prefix) =>
      /^[^{}]{1,32}$/.test(prefix) ? withRedis(config, { prefix }) : undefined,
  },
  {
    name: 'SLUICE_REDIS_TIMEOUT',
    field: 'store.timeout',
    accepted: "a duration such as '50ms'; without a Redis store it means nothing",
    apply: (config, value) => {
      const timeout = millisOf(value)
      return timeout === undefined ? undefined : withRedis(config, { timeout })
    },
  },
  ...addressOf('http', 'SLUICE_HTTP'),
  ...addressOf('grpc', 'SLUICE_GRPC'),
  ...PROXY_VARIABLES,
  ...ADMIN_VARIABLES,
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
  /** Variables that were set and changed nothing, since what they are about is not there. */
  readonly idle: readonly Variable[]
}

/** The configuration with the environment's word in it. Empty variables count as not set. */
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

function addressOf(listener: 'http' | 'grpc', prefix: string): readonly Variable[] {
  return [
    {
      name: `${prefix}_HOST`,
      field: `listeners.${listener}.host`,
      accepted: "an address to listen on, such as '0.0.0.0'",
      apply: (config, host) => withListener(config, listener, { host }),
    },
    {
      name: `${prefix}_PORT`,
      field: `listeners.${listener}.port`,
      accepted: PORT,
      apply: (config, value) =>
        /^\d{1,5}$/.test(value) && Number(value) < 65_536
          ? withListener(config, listener, { port: Number(value) })
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
