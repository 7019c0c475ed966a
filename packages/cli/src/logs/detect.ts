// Finds the format of a log from its first lines, and makes the parser.
import { CombinedParser } from './combined.ts'
import { at, FIELD_NAMES } from './field-names.ts'
import { FieldParser } from './field-parser.ts'
import { textOf, type FormatName, type LogParser, type Mapping } from './parser.ts'
import { albSplitter, csvSplitter, envoySplitter, isHeader, jsonSplitter } from './splitters.ts'

/** The parser of a format. `header` is the first line, which names the fields of CSV. */
export function parserOf(format: FormatName, mapping: Mapping, header = ''): LogParser {
  switch (format) {
    case 'combined':
    case 'common':
      return new CombinedParser(format, mapping)
    case 'envoy':
      return new FieldParser(format, envoySplitter, mapping)
    case 'alb':
      return new FieldParser(format, albSplitter, mapping)
    case 'csv':
      return new FieldParser(format, csvSplitter(header), mapping)
    case 'caddy':
      return new FieldParser(format, jsonSplitter('duration'), mapping)
    case 'nginx-json':
      return new FieldParser(format, jsonSplitter('request_time'), mapping)
    case 'ndjson':
      return new FieldParser(format, jsonSplitter(), mapping)
  }
}

/** The format that most of these lines are in; undefined when none of them is in any. */
export function formatOf(lines: readonly string[], mapping: Mapping): FormatName | undefined {
  const [first = ''] = lines
  const timeNames = new Set([...(FIELD_NAMES['time'] ?? []), mapping.get('time') ?? ''])
  if (isHeader(first, (name) => timeNames.has(name))) return 'csv'
  const votes = new Map<FormatName, number>()
  for (const line of lines) {
    const format = formatOfLine(line, mapping)
    if (format !== undefined) votes.set(format, (votes.get(format) ?? 0) + 1)
  }
  return [...votes].toSorted(([, a], [, b]) => b - a)[0]?.[0]
}

function formatOfLine(line: string, mapping: Mapping): FormatName | undefined {
  if (line.startsWith('{')) return jsonFormatOf(line)
  if (albSplitter.split(line) !== 'not in the format') return 'alb'
  if (typeof envoySplitter.split(line) === 'object') return 'envoy'
  const bytes = new TextEncoder().encode(line)
  const parser = new CombinedParser('combined', mapping)
  if (parser.read(bytes, 0, bytes.length) !== undefined) return undefined
  return /"[^"]*" "[^"]*"/.test(textOf(bytes, 0, bytes.length).replace(/\\./g, ''))
    ? 'combined'
    : 'common'
}

function jsonFormatOf(line: string): FormatName | undefined {
  const fields = jsonSplitter().split(line)
  if (typeof fields === 'string') return undefined
  if (at(fields, 'request.method') !== undefined && at(fields, 'ts') !== undefined) return 'caddy'
  const isNginx = ['remote_addr', 'time_local', 'time_iso8601', 'request_time', 'remote_user'].some(
    (name) => at(fields, name) !== undefined,
  )
  return isNginx ? 'nginx-json' : 'ndjson'
}
