// What the environment may say about the admin API.
import { digestOf, isToken, TOKEN } from './tokens.ts'
import type { AdminListenerConfig } from './config.ts'
import type { Unread, Variable } from './variable.ts'
import { adminListener } from './shape/admin.ts'

/** A token switches the admin API on; without one the others mean nothing. */
export const ADMIN_VARIABLES: readonly Variable[] = [
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
  {
    name: 'SLUICE_ADMIN_HOST',
    field: 'listeners.admin.host',
    accepted: "an address to listen on, such as '0.0.0.0'",
    apply: (config, host) =>
      config.listeners.admin === undefined ? config : withAdmin(config, { host }),
  },
  {
    name: 'SLUICE_ADMIN_PORT',
    field: 'listeners.admin.port',
    accepted: 'a whole number from 0 to 65535',
    apply: (config, value) => {
      if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535) return undefined
      if (config.listeners.admin === undefined) return config
      return withAdmin(config, { port: Number(value) })
    },
  },
]

function withAdmin<C extends Unread>(config: C, said: Partial<AdminListenerConfig>): C {
  const { listeners } = config
  const admin = { ...(listeners.admin ?? adminListener.parse({})), ...said }
  return { ...config, listeners: { ...listeners, admin } }
}
