// The parser of every format whose line is split into named fields first: JSON, CSV, Envoy and ALB.
import type { Millis } from 'sluice'
import { at, FIELD_NAMES, pathsIn } from './field-names.ts'
import { textOf, type Fault, type FormatName, type LogParser, type Mapping } from './parser.ts'
import { instantOf } from './stamp.ts'

/** The fields of one line by name. */
export type Fields = Readonly<Record<string, unknown>>

/** How one format splits its lines. */
export interface Splitter {
  /** The fields of a line, or why there are none. */
  split(line: string): Fields | Fault
  /** How long the request took, of a line's fields. */
  duration?(fields: Fields): Millis
}

/** Reads lines through a splitter, and finds attributes by the names that logs give them. */
export class FieldParser implements LogParser {
  readonly format: FormatName
  at: Millis = 0
  status = 0
  duration = Number.NaN
  private readonly splitter: Splitter
  private readonly mapping: Mapping
  private record: Fields = {}
  /** The name that held an attribute in the line before, which usually holds it again. */
  private readonly found = new Map<string, string>()

  constructor(format: FormatName, splitter: Splitter, mapping: Mapping) {
    this.format = format
    this.splitter = splitter
    this.mapping = mapping
  }

  read(bytes: Uint8Array, start: number, end: number): Fault | undefined {
    const record = this.splitter.split(textOf(bytes, start, end))
    if (typeof record === 'string') return record
    this.record = record
    const time = this.raw('time')
    if (time === undefined) return 'time missing'
    this.at = instantOf(time)
    if (Number.isNaN(this.at)) return 'time impossible'
    const status = Number(this.raw('status'))
    this.status = status >= 100 && status < 1000 ? Math.trunc(status) : 0
    this.duration = this.splitter.duration?.(record) ?? Number.NaN
    return undefined
  }

  value(attribute: string): string | undefined {
    const isMapped = this.mapping.has(attribute)
    if (!isMapped && (attribute === 'method' || attribute === 'path'))
      return this.methodOrPath(attribute)
    const value = stringOf(this.raw(attribute))
    return value !== undefined && attribute === 'ip' && !isMapped ? withoutPort(value) : value
  }

  field(name: string): string | undefined {
    return stringOf(at(this.record, name))
  }

  fields(): readonly string[] {
    return pathsIn(this.record)
  }

  private raw(attribute: string): unknown {
    const mapped = this.mapping.get(attribute)
    if (mapped !== undefined) return at(this.record, mapped)
    const before = this.found.get(attribute)
    const known = before === undefined ? undefined : scalar(at(this.record, before))
    if (known !== undefined) return known
    for (const name of FIELD_NAMES[attribute] ?? [attribute]) {
      const value = scalar(at(this.record, name))
      if (value === undefined) continue
      this.found.set(attribute, name)
      return value
    }
    return undefined
  }

  /** From a field of its own, or from the request line. */
  private methodOrPath(attribute: 'method' | 'path'): string | undefined {
    const direct = stringOf(this.raw(attribute))
    if (direct !== undefined) return attribute === 'path' ? pathOf(direct) : direct
    const line = stringOf(this.raw('request'))
    const [method, target] = line?.split(' ') ?? []
    if (target === undefined) return undefined
    return attribute === 'method' ? method : pathOf(target)
  }
}

function scalar(value: unknown): unknown {
  return typeof value === 'object' || value === '' || value === '-' ? undefined : value
}

function stringOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value !== '' && value !== '-' ? value : undefined
}

/** The path of a URL or target, without its query. */
function pathOf(target: string): string {
  const path = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  const end = path.search(/[?#]/)
  return (end < 0 ? path : path.slice(0, end)) || '/'
}

/** The address without the port that some logs put behind it: `192.0.2.1:443`, `[2001:db8::1]:443`. */
function withoutPort(address: string): string {
  const match = /^(?:\[([0-9a-f:.]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/i.exec(address)
  return match === null ? address : (match[1] ?? match[2] ?? address)
}
