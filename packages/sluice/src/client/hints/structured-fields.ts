// Reads lists and dictionaries of structured header fields (RFC 9651), strictly, as the standard requires.

/** A value without parameters. Byte sequences stay base64; dates are seconds. */
export interface BareItem {
  readonly kind:
    | 'integer'
    | 'decimal'
    | 'string'
    | 'token'
    | 'bytes'
    | 'boolean'
    | 'date'
    | 'display'
  readonly value: string | number | boolean
}

/** A value with its parameters; an inner list has the kind `list` and its items. */
export interface Member {
  readonly kind: BareItem['kind'] | 'list'
  readonly value: string | number | boolean | readonly Member[]
  readonly parameters: ReadonlyMap<string, BareItem>
}

/** The members of a list; undefined if the field is malformed, which makes all of it unusable. */
export function parseList(text: string): readonly Member[] | undefined {
  return parsed(text, (reader) => {
    const members: Member[] = []
    reader.eachMember(() => members.push(reader.member()))
    return members
  })
}

/** The members of a dictionary; undefined if the field is malformed. */
export function parseDictionary(text: string): ReadonlyMap<string, Member> | undefined {
  return parsed(text, (reader) => {
    const members = new Map<string, Member>()
    reader.eachMember(() => {
      const key = reader.need(KEY)
      members.set(key, reader.try(EQUALS) === undefined ? reader.flag() : reader.member())
    })
    return members
  })
}

class Malformed extends Error {}

function parsed<T>(text: string, parse: (reader: Reader) => T): T | undefined {
  try {
    return parse(new Reader(text))
  } catch (error) {
    if (error instanceof Malformed) return undefined
    throw error
  }
}

const SPACES = / */y
const OPTIONAL_SPACE = /[ \t]*/y
const COMMA = /,/y
const SEMICOLON = /;/y
const EQUALS = /=/y
const OPEN = /\(/y
const CLOSE = /\)/y
const KEY = /[a-z*][a-z0-9_.*-]*/y
const NUMBER = /-?\d+(?:\.\d*)?/y
const INTEGER = /^-?\d{1,15}$/
const DECIMAL = /^-?\d{1,12}\.\d{1,3}$/
const STRING = /"((?:[ !#-[\]-~]|\\["\\])*)"/y
const TOKEN = /[A-Za-z*][!#$%&'*+\-.^_`|~:/0-9A-Za-z]*/y
const BYTES = /:((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2})?):/y
const BOOLEAN = /\?([01])/y
const DATE = /@(-?\d+(?:\.\d*)?)/y
const DISPLAY = /%"((?:[ !#$&-~]|%[0-9a-f]{2})*)"/y
const YES: BareItem = { kind: 'boolean', value: true }

class Reader {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    this.text = text
    this.try(SPACES)
  }

  /** Matches a pattern at the present position and moves behind it. Returns its group, or the whole match. */
  try(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const match = pattern.exec(this.text)
    if (match === null) return undefined
    this.at = pattern.lastIndex
    return match[1] ?? match[0]
  }

  need(pattern: RegExp): string {
    return this.try(pattern) ?? this.fail()
  }

  /** Calls `read` for each member between commas, up to the end of the field. */
  eachMember(read: () => void): void {
    if (this.at === this.text.length) return
    for (;;) {
      read()
      this.try(OPTIONAL_SPACE)
      if (this.at === this.text.length) return
      this.need(COMMA)
      this.try(OPTIONAL_SPACE)
      if (this.at === this.text.length) this.fail()
    }
  }

  member(): Member {
    return this.try(OPEN) === undefined ? this.item() : this.innerList()
  }

  /** A dictionary's member without a value. */
  flag(): Member {
    return { ...YES, parameters: this.parameters() }
  }

  private item(): Member {
    const { kind, value } = this.bareItem()
    return { kind, value, parameters: this.parameters() }
  }

  private innerList(): Member {
    const items: Member[] = []
    for (;;) {
      this.try(SPACES)
      if (this.try(CLOSE) !== undefined)
        return { kind: 'list', value: items, parameters: this.parameters() }
      items.push(this.item())
      if (this.text[this.at] !== ' ' && this.text[this.at] !== ')') this.fail()
    }
  }

  private parameters(): ReadonlyMap<string, BareItem> {
    const parameters = new Map<string, BareItem>()
    while (this.try(SEMICOLON) !== undefined) {
      this.try(SPACES)
      const key = this.need(KEY)
      parameters.set(key, this.try(EQUALS) === undefined ? YES : this.bareItem())
    }
    return parameters
  }

  private bareItem(): BareItem {
    const number = this.try(NUMBER)
    if (number !== undefined) return this.numberOf(number)
    const string = this.try(STRING)
    if (string !== undefined)
      return { kind: 'string', value: string.replaceAll(/\\(["\\])/g, '$1') }
    const token = this.try(TOKEN)
    if (token !== undefined) return { kind: 'token', value: token }
    const boolean = this.try(BOOLEAN)
    if (boolean !== undefined) return { kind: 'boolean', value: boolean === '1' }
    const bytes = this.try(BYTES)
    if (bytes !== undefined) return { kind: 'bytes', value: bytes }
    const date = this.try(DATE)
    if (date !== undefined && INTEGER.test(date)) return { kind: 'date', value: Number(date) }
    const display = this.try(DISPLAY)
    return display === undefined ? this.fail() : { kind: 'display', value: this.decoded(display) }
  }

  private numberOf(text: string): BareItem {
    if (INTEGER.test(text)) return { kind: 'integer', value: Number(text) }
    return DECIMAL.test(text) ? { kind: 'decimal', value: Number(text) } : this.fail()
  }

  private decoded(text: string): string {
    try {
      return decodeURIComponent(text)
    } catch {
      return this.fail()
    }
  }

  private fail(): never {
    throw new Malformed()
  }
}
