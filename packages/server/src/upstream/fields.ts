// Header fields as they were sent: in their order and spelling, several lines of one name apart.

/** A list of fields, names and values by turns, as Node takes and gives them. */
export class RawFields {
  readonly raw: string[]

  constructor(raw: string[] = []) {
    this.raw = raw
  }

  /** The value of a field, several lines joined with commas. */
  get(name: string): string | undefined {
    const { raw } = this
    let value: string | undefined
    for (let i = 0; i < raw.length; i += 2)
      if (isSame(raw[i]!, name))
        value = value === undefined ? raw[i + 1]! : `${value}, ${raw[i + 1]!}`
    return value
  }

  /** Replaces all lines of a field by one. */
  set(name: string, value: string): void {
    const { raw } = this
    let isSet = false
    for (let i = 0; i < raw.length;) {
      if (!isSame(raw[i]!, name)) i += 2
      else if (isSet) raw.splice(i, 2)
      else {
        raw[i + 1] = value
        isSet = true
        i += 2
      }
    }
    if (!isSet) raw.push(name, value)
  }

  add(name: string, value: string): void {
    this.raw.push(name, value)
  }

  delete(name: string): void {
    const { raw } = this
    for (let i = raw.length - 2; i >= 0; i -= 2) if (isSame(raw[i]!, name)) raw.splice(i, 2)
  }
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && (a === b || a.toLowerCase() === b.toLowerCase())
}
