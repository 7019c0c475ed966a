// Variables of the environment that look like ours and that nothing reads: misspelled, or named as they might be.
import { type ConfigRemark, nearestName } from './problem.ts'
import { VARIABLES, type Environment, type Variable } from './environment.ts'

/** Read by the health check of the image. */
const READ_ELSEWHERE = ['SLUICE_HEALTH_URL']

/** Names that are guessed, and those that are read. */
const GUESSED: Readonly<Record<string, string>> = {
  SLUICE_HOST: 'SLUICE_HTTP_HOST',
  SLUICE_PORT: 'SLUICE_HTTP_PORT',
  SLUICE_LOG_LEVEL: 'SLUICE_LOG',
  SLUICE_REDIS: 'REDIS_URL',
  SLUICE_REDIS_URL: 'REDIS_URL',
  SLUICE_STORE: 'REDIS_URL',
  SLUICE_STORE_URL: 'REDIS_URL',
  SLUICE_PREFIX: 'SLUICE_REDIS_PREFIX',
  SLUICE_TOKEN: 'SLUICE_ADMIN_TOKEN',
  SLUICE_UPSTREAM: 'SLUICE_PROXY_UPSTREAM',
}

/** The variables that Kubernetes sets in every container for a service whose name begins with `sluice`. */
const OF_KUBERNETES = /_SERVICE_HOST$|_SERVICE_PORT(?:_\w+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?$/

/** Remarks on the variables that look like ours and that neither the service nor the text of the file reads. */
export function unreadVariables(text: string, environment: Environment): readonly ConfigRemark[] {
  const known = [...VARIABLES.map(({ name }) => name), ...READ_ELSEWHERE]
  return Object.entries(environment).flatMap(([name, value]): ConfigRemark[] => {
    if (!/^sluice_/i.test(name) || known.includes(name) || value === undefined) return []
    // <NAME>_PORT of Kubernetes is such as tcp://10.0.0.7:8080.
    if (OF_KUBERNETES.test(name) || /^(?:tcp|udp|sctp):\/\//.test(value)) return []
    if (text.includes(`\${${name}}`) || text.includes(`\${${name}:-`)) return []
    const guessed = Object.hasOwn(GUESSED, name) ? GUESSED[name] : undefined
    const meant = guessed ?? nearestName(name, known)
    if (meant === undefined) return []
    const message = `${name} is set, and nothing reads it; did you mean ${meant}?`
    return [{ code: 'unread-variable', isOfEnvironment: true, steps: [], message }]
  })
}

/** What would have to be there for a variable to have an effect. */
const NEEDED: Readonly<Record<string, string>> = {
  store: 'counts are in memory; set REDIS_URL',
  'listeners.proxy': 'there is no reverse proxy; set SLUICE_PROXY_UPSTREAM',
  'listeners.admin': 'the admin API is off; set SLUICE_ADMIN_TOKEN',
}

/** Remarks on variables that change nothing. Hosts are left out: images set them in general. */
export function idleVariables(idle: readonly Variable[]): readonly ConfigRemark[] {
  return idle.flatMap(({ name, field }): ConfigRemark[] => {
    const needed = NEEDED[field.slice(0, field.lastIndexOf('.'))]
    if (name.endsWith('_HOST') || needed === undefined) return []
    const message = `${name} is set, and has no effect: ${needed}, or leave it out`
    return [{ code: 'unread-variable', isOfEnvironment: true, steps: [], message }]
  })
}
