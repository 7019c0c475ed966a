// How each format with named fields splits its lines.
import type { Fields, Splitter } from './field-parser.ts'

/** One JSON object in each line. Seconds in `field`, when it is named, are how long the request took. */
export function jsonSplitter(durationField?: string): Splitter {
  return {
    split(line) {
      try {
        const value = JSON.parse(line) as unknown
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
        return isObject ? (value as Fields) : 'not in the format'
      } catch {
        const isCut = line.startsWith('{') && !line.trimEnd().endsWith('}')
        return isCut ? 'cut off' : 'not in the format'
      }
    },
    ...(durationField && {
      duration: (fields) => secondsOf(fields[durationField]),
    }),
  }
}

/** The text format that Envoy writes by default, and Istio's, which has more fields. */
export const envoySplitter: Splitter = {
  split(line) {
    const match = /^\[([^\]]+)\] "/.exec(line)
    if (match === null) return 'not in the format'
    const tokens = tokensOf(line.slice(match[0].length - 1))
    if (tokens === undefined) return 'cut off'
    // Five quoted fields at the end of Envoy's own; Istio puts one before them and addresses behind.
    const quoted = tokens.flatMap(({ isQuoted }, i) => (isQuoted ? [i] : [])).slice(-5)
    if (quoted.length < 5 || quoted[0]! < 4) return 'cut off'
    const text = (i: number): string | undefined => tokens[i]?.text
    const [forwarded, agent, id, authority, upstream] = quoted as [
      number,
      number,
      number,
      number,
      number,
    ]
    const peer = text(upstream + 4)
    return {
      time: match[1],
      request: text(0),
      response_code: text(1),
      response_flags: text(2),
      duration: text(forwarded - 2),
      x_forwarded_for: text(forwarded),
      user_agent: text(agent),
      request_id: text(id),
      authority: text(authority),
      upstream_host: text(upstream),
      // The entry of x-forwarded-for that Envoy wrote itself is the last one; earlier ones are the client's claim.
      client_ip: peer ?? text(forwarded)?.split(',').at(-1)?.trim(),
    }
  },
  duration: ({ duration }) => numberOf(duration),
}

const ALB_FIELDS =
  'type time elb client_ip target request_processing_time target_processing_time response_processing_time status target_status received_bytes sent_bytes request user_agent ssl_cipher ssl_protocol target_group_arn trace_id domain_name chosen_cert_arn matched_rule_priority request_creation_time actions_executed redirect_url error_reason'.split(
    ' ',
  )

/** The access log of AWS' application load balancer. */
export const albSplitter: Splitter = {
  split(line) {
    if (!/^(?:https?|h2|grpcs?|wss?) \d{4}-\d\d-\d\dT/.test(line)) return 'not in the format'
    const tokens = tokensOf(line)
    if (tokens === undefined || tokens.length < 13) return 'cut off'
    return Object.fromEntries(ALB_FIELDS.map((name, i) => [name, tokens[i]?.text]))
  },
  duration: (fields) =>
    secondsOf(fields['request_processing_time']) +
    secondsOf(fields['target_processing_time']) +
    secondsOf(fields['response_processing_time']),
}

/** Comma, semicolon or tab separated values; the first line has the names. A line break ends a record. */
export function csvSplitter(header: string): Splitter {
  const separator = [',', ';', '\t'].reduce((best, one) =>
    header.split(one).length > header.split(best).length ? one : best,
  )
  const names = cellsOf(header.replace(/^\uFEFF/, ''), separator)?.map((name) => name.trim()) ?? []
  return {
    split(line) {
      const cells = cellsOf(line, separator)
      if (cells === undefined) return 'cut off'
      if (cells.length !== names.length)
        return cells.length < names.length ? 'cut off' : 'not in the format'
      return Object.fromEntries(names.map((name, i) => [name, cells[i]]))
    },
  }
}

interface Token {
  readonly text: string
  readonly isQuoted: boolean
}

/** The words of a line; quoted ones may hold spaces. Undefined when a quote does not end. */
function tokensOf(line: string): readonly Token[] | undefined {
  const tokens: Token[] = []
  const pattern = /"((?:[^"\\]|\\.)*)"|([^\s"]+)|(")/g
  for (const [, quoted, word, open] of line.matchAll(pattern)) {
    if (open !== undefined) return undefined
    tokens.push({ text: quoted ?? word ?? '', isQuoted: quoted !== undefined })
  }
  return tokens
}

function cellsOf(line: string, separator: string): string[] | undefined {
  if (!line.includes('"')) return line.split(separator)
  const cells: string[] = []
  let i = 0
  for (;;) {
    if (line[i] === '"') {
      let cell = ''
      for (i++; ; i++) {
        if (i >= line.length) return undefined
        if (line[i] !== '"') cell += line[i]
        else if (line[i + 1] === '"') cell += line[i++]
        else break
      }
      cells.push(cell)
      i++
    } else {
      const end = line.indexOf(separator, i)
      cells.push(line.slice(i, end < 0 ? line.length : end))
      i = end < 0 ? line.length : end
    }
    if (i >= line.length) return cells
    if (line[i] !== separator) return undefined
    i++
  }
}

function secondsOf(value: unknown): number {
  const seconds = numberOf(value)
  return seconds >= 0 ? seconds * 1000 : Number.NaN
}

function numberOf(value: unknown): number {
  return typeof value === 'number' || (typeof value === 'string' && value !== '')
    ? Number(value)
    : Number.NaN
}

/** True when the fields of a first line are names, one of which is a time. */
export function isHeader(line: string, isTime: (name: string) => boolean): boolean {
  const names = line.replace(/^\uFEFF/, '').split(/[,;\t]/)
  return (
    names.length > 1 &&
    names.some((name) => isTime(name.trim().replaceAll('"', ''))) &&
    !line.startsWith('{')
  )
}
