// Reads limit_req of nginx.
import type { Rule } from 'sluice'
import type { Imported, Note } from './imported.ts'

interface Directive {
  readonly line: number
  readonly words: readonly string[]
  readonly block: readonly Directive[]
}

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
  $uri: 'path',
  $request_uri: 'path',
  $server_name: 'host',
  $host: 'host',
}

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
  const rules: Rule[] = []
  const directives = parseNginx(text)
  const visit = (
    list: readonly Directive[],
    run: (one: Directive, path: string[]) => void,
  ): void => {
    const walk = (inner: readonly Directive[], path: string[]): void => {
      for (const one of inner) {
        run(one, path)
        walk(one.block, one.words[0] === 'location' ? [...path, one.words.at(-1)!] : path)
      }
    }
    walk(list, [])
  }
  visit(directives, ({ words, line }) => {
    if (words[0] === 'limit_req_zone') readZone(words, line, zones, notes)
    const other = OTHERS[words[0] ?? '']
    if (other !== undefined) notes.push({ line, text: `${words[0]}: ${other}` })
  })
  visit(directives, ({ words, line }, path) => {
    if (words[0] !== 'limit_req') return
    const zone = zones.get(valueOf(words, 'zone') ?? '')
    if (zone === undefined) {
      notes.push({
        line,
        text: `limit_req: the zone ${valueOf(words, 'zone')} is not in this file`,
      })
      return
    }
    const rule = ruleOf(zone, words, path, rules.length)
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
  return { policies: rules.length === 0 ? [] : [{ name: 'nginx', rules }], notes, edits: [] }
}

function readZone(
  words: readonly string[],
  line: number,
  zones: Map<string, Zone>,
  notes: Note[],
): void {
  const name = valueOf(words, 'zone')?.split(':')[0]
  const rate = /^(\d+)r\/(s|m)$/.exec(valueOf(words, 'rate') ?? '')
  if (name === undefined || rate === null) {
    notes.push({ line, text: 'limit_req_zone: its zone or rate cannot be read' })
    return
  }
  const by = (words[1] ?? '').match(/\$\w+/g)?.map((variable) => {
    const known = VARIABLES[variable]
    if (known !== undefined) return known
    const attribute = variable.slice(1).replace(/^http_/, '')
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
  path: readonly string[],
  index: number,
): Rule {
  const burst = Number(valueOf(words, 'burst') ?? 0)
  const algorithm = words.includes('nodelay') || burst === 0 ? 'gcra' : 'leaky-bucket'
  const location = path.at(-1)
  const isPlain = location !== undefined && location !== '/' && /^\/[\w./-]*$/.test(location)
  return {
    name: `${zone.name}${index === 0 ? '' : `-${index + 1}`}`,
    ...(isPlain ? { when: { path: `${location}*` } } : {}),
    by: zone.by,
    limit: { quota: zone.quota, window: zone.window, algorithm, burst: burst + 1 },
  }
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
