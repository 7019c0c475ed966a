// Reads limit_req of nginx.
import type { Rule } from 'sluice'
import type { Imported, Note } from './imported.ts'

interface Directive {
  readonly line: number
  readonly words: readonly string[]
  readonly block: readonly Directive[]
}

/** A block that a limit_req stands in: its words after `location`. */
type Location = readonly string[]

interface Zone {
  readonly name: string
  readonly by: readonly string[]
  readonly quota: number
  readonly window: 's' | 'min'
}

/** Variables of nginx, as attributes. */
const VARIABLES: Readonly<Record<string, string>> = {
  $binary_remote_addr: 'ip',
  $remote_addr: 'ip',
  $http_x_api_key: 'apiKey',
  $http_authorization: 'apiKey',
  $remote_user: 'user',
  $request_method: 'method',
  $uri: 'route',
  $request_uri: 'route',
  $server_name: 'host',
  $host: 'host',
}

/** The request field from which the service reads an attribute. */
const FIELDS: Readonly<Record<string, string>> = {
  $http_x_api_key: 'x-api-key',
  $http_authorization: 'authorization',
  $server_name: 'host',
  $host: 'host',
}

/** Attributes that the service reads from every request that a proxy asks about. */
const SET_BY_SERVICE = ['ip', 'method', 'route']

const OTHERS: Readonly<Record<string, string>> = {
  limit_req_status: 'the status is 429; in code onRefused may change it',
  limit_req_log_level: 'refusals are counted by metrics, and listed by sluice top',
  limit_conn_zone: 'limits of connections at once are not rates; write a concurrency limit',
  limit_conn: 'limits of connections at once are not rates; write a concurrency limit',
  limit_conn_status: 'the status is 429; in code onRefused may change it',
  limit_conn_dry_run: 'write shadow: true in the rule',
  limit_conn_log_level: 'refusals are counted by metrics, and listed by sluice top',
  limit_rate: 'limits of bytes per second are not rates of requests',
  limit_rate_after: 'limits of bytes per second are not rates of requests',
}

/** One rule for each limit_req, with the location as its route. */
export function importNginx(text: string): Imported {
  const notes: Note[] = []
  const zones = new Map<string, Zone>()
  const fields = new Map<string, string>()
  const routes = new Set<string>()
  const rules: Rule[] = []
  const directives = parseNginx(text)
  const visit = (
    list: readonly Directive[],
    run: (one: Directive, path: readonly Location[]) => void,
  ): void => {
    const walk = (inner: readonly Directive[], path: readonly Location[]): void => {
      for (const one of inner) {
        run(one, path)
        walk(one.block, one.words[0] === 'location' ? [...path, one.words.slice(1)] : path)
      }
    }
    walk(list, [])
  }
  let isOuter = false
  let isOuterOfServer = false
  let server: Directive | undefined
  const made = new Set<string>()
  let servers = 0
  visit(directives, ({ words, line }) => {
    if (words[0] === 'map' || words[0] === 'geo') made.add(words.at(-1) ?? '')
    if (words[0] === 'server') servers += 1
    if (words[0] === 'include')
      notes.push({ line, text: `include: ${words[1]} is not read; import those files too` })
  })
  visit(directives, ({ words, line }) => {
    const found = words[0] === 'limit_req_zone' ? (words[1] ?? '').match(/\$\w+/g) : null
    for (const variable of found ?? [])
      if (made.has(variable))
        notes.push({
          line,
          text: `${variable}: map and geo are not translated; write the requests that count in when, and what they count by in by`,
        })
    if (words[0] === 'limit_req_zone') readZone(words, line, zones, fields, notes)
    const other = OTHERS[words[0] ?? '']
    if (other !== undefined) notes.push({ line, text: `${words[0]}: ${other}` })
  })
  visit(directives, (one, path) => {
    const { words, line } = one
    if (words[0] === 'server' && one.block.length > 0) {
      server = one
      isOuter = isOuterOfServer
    }
    if (words[0] !== 'limit_req') return
    const zone = zones.get(valueOf(words, 'zone') ?? '')
    if (zone === undefined) {
      notes.push({
        line,
        text: `limit_req: the zone ${valueOf(words, 'zone')} is not in this file`,
      })
      return
    }
    const location = path.at(-1)
    const found = location === undefined ? [] : routesOf(location)
    if (found === undefined)
      notes.push({
        line,
        text: `location ${location!.join(' ')}: only paths are translated; the rule applies to every path`,
      })
    for (const route of found ?? []) routes.add(route)
    if (server !== undefined && servers > 1)
      notes.push({
        line,
        text: `limit_req: the rule applies to every host; for one server write when: { host: ${hostOf(server)} }, and host under proxy.attributes`,
      })
    if (location === undefined) {
      isOuter = true
      if (server === undefined) isOuterOfServer = true
    } else if (isOuter)
      notes.push({
        line,
        text: 'limit_req in a location replaces those around it in nginx; here all rules that apply are counted',
      })
    const rule = ruleOf(zone, words, found ?? [], rules.length)
    if (words.some((word) => word.startsWith('delay=')))
      notes.push({
        line,
        text: 'delay=: requests within the burst are delayed from the first one on',
      })
    rules.push(rule)
  })
  visit(directives, ({ words, line }) => {
    if (words[0] === 'limit_req_dry_run' && words[1] === 'on')
      notes.push({ line, text: 'limit_req_dry_run: write shadow: true in the rules' })
  })
  const proxy = {
    ...(routes.size > 0 && { routes: [...routes] }),
    ...(fields.size > 0 && { attributes: Object.fromEntries(fields) }),
  }
  return {
    policies: rules.length === 0 ? [] : [{ name: 'nginx', rules }],
    ...(Object.keys(proxy).length > 0 && { proxy }),
    notes,
    edits: [],
  }
}

/** The routes of a location: all for `/`, those below a prefix, an exact one after `=`; undefined for an expression. */
function routesOf(words: Location): readonly string[] | undefined {
  const path = words.at(-1) ?? ''
  if (!/^\/[\w./-]*$/.test(path) || words[0]!.startsWith('~')) return undefined
  const plain = path.replace(/\/+$/, '')
  if (words[0] === '=') return [plain === '' ? '/' : plain]
  return plain === '' ? [] : [plain, `${plain}/{rest*}`]
}

function hostOf({ block }: Directive): string {
  return block.find(({ words }) => words[0] === 'server_name')?.words[1] ?? 'its name'
}

function readZone(
  words: readonly string[],
  line: number,
  zones: Map<string, Zone>,
  fields: Map<string, string>,
  notes: Note[],
): void {
  const name = valueOf(words, 'zone')?.split(':')[0]
  const rate = /^(\d+)r\/(s|m)$/.exec(valueOf(words, 'rate') ?? '')
  if (name === undefined || rate === null) {
    notes.push({ line, text: 'limit_req_zone: its zone or rate cannot be read' })
    return
  }
  const by = (words[1] ?? '').match(/\$\w+/g)?.map((variable) => {
    const attribute = VARIABLES[variable] ?? variable.slice(1).replace(/^http_/, '')
    const isField = variable.startsWith('$http_')
    const field = FIELDS[variable] ?? (isField ? attribute.replaceAll('_', '-') : undefined)
    if (field !== undefined) fields.set(attribute, field)
    else if (attribute === 'route')
      notes.push({ line, text: `${variable}: paths never count as they are; declare proxy.routes` })
    else if (!SET_BY_SERVICE.includes(attribute))
      notes.push({
        line,
        text: `${variable}: name the request field of the attribute ${attribute} under proxy.attributes`,
      })
    return attribute
  })
  zones.set(name, {
    name,
    by: by ?? [],
    quota: Number(rate[1]),
    window: rate[2] === 's' ? 's' : 'min',
  })
}

/**
 * nginx counts by a leaky bucket: one request at once and `burst` more. With `nodelay` they pass at once, which is GCRA;
 * without, they are delayed.
 */
function ruleOf(
  zone: Zone,
  words: readonly string[],
  routes: readonly string[],
  index: number,
): Rule {
  const burst = Number(valueOf(words, 'burst') ?? 0)
  const algorithm = words.includes('nodelay') || burst === 0 ? 'gcra' : 'leaky-bucket'
  return {
    name: `${zone.name}${index === 0 ? '' : `-${index + 1}`}`,
    ...(routes.length > 0 && { when: { route: routes.map(patternOf) } }),
    by: zone.by,
    limit: { quota: zone.quota, window: zone.window, algorithm, burst: burst + 1 },
  }
}

/** A `*` within a pattern is literal only in the long form. */
function patternOf(route: string): string | { readonly equals: string } {
  return route.includes('*') ? { equals: route } : route
}

function valueOf(words: readonly string[], name: string): string | undefined {
  return words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)
}

/** The directives of a file; includes are not followed. */
function parseNginx(text: string): readonly Directive[] {
  const root: Directive[] = []
  const open: Directive[][] = [root]
  let words: string[] = []
  let line = 1
  let startedAt = 1
  for (const [token] of text.matchAll(
    /#[^\n]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[{};\n]|[^\s{};"'#]+/g,
  )) {
    if (token === '\n') line += 1
    else if (token.startsWith('#')) continue
    else if (token === ';' || token === '{') {
      const block: Directive[] = []
      if (words.length > 0) open.at(-1)!.push({ line: startedAt, words, block })
      if (token === '{') open.push(block)
      words = []
    } else if (token === '}') {
      if (open.length > 1) open.pop()
      words = []
    } else {
      if (words.length === 0) startedAt = line
      words = [...words, token.replaceAll(/^["']|["']$/g, '')]
    }
  }
  return root
}
