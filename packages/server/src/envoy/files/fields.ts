// Reads the fields of one map: which there are, and texts, numbers and booleans as Go's YAML reader takes them.
import { didYouMean, shown } from '../../config/problem.ts'
import type { Member, SourceNode } from './node.ts'
import type { Notes } from './notes.ts'
import { VARIABLE } from './text-traps.ts'

/** Every field that a file may have anywhere; one in the wrong place means nothing there. */
const KNOWN = new Set([
  'domain',
  'descriptors',
  'key',
  'value',
  'rate_limit',
  'unit',
  'requests_per_unit',
  'unlimited',
  'name',
  'replaces',
  'shadow_mode',
  'quota_mode',
  'detailed_metric',
  'value_to_metric',
  'share_threshold',
])

const TRUE = new Set(['true', 'yes', 'on', 'y'])
const FALSE = new Set(['false', 'no', 'off', 'n', ''])
const LARGEST = 4_294_967_295

/** The members of a map by name, and the readers of their values. */
export class Fields {
  readonly node: SourceNode
  private readonly notes: Notes
  private readonly path: string
  private readonly members: ReadonlyMap<string, Member>

  constructor(node: SourceNode, path: string, accepted: readonly string[], notes: Notes) {
    this.node = node
    this.notes = notes
    this.path = path
    const members = node.kind === 'map' ? node.members : []
    if (node.kind !== 'map')
      notes.wrong(
        node,
        path,
        `${path || 'the file'} is ${kindOf(node)}; accepted: ${accepted.join(', ')}`,
      )
    this.members = new Map(members.map((member) => [member.name, member]))
    for (const member of members) {
      if (accepted.includes(member.name)) continue
      const place = this.pathTo(member.name)
      if (KNOWN.has(member.name))
        notes.warn(
          'misplaced-field',
          member,
          place,
          `${place} means nothing here; accepted: ${accepted.join(', ')}`,
        )
      else
        notes.wrong(
          member,
          place,
          `${place} is unknown${didYouMean(member.name, accepted)}; accepted: ${accepted.join(', ')}`,
        )
    }
  }

  /** The path of a member, as messages show it. */
  pathTo(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }

  /** The member, unless it is not there or holds nothing. */
  member(name: string): Member | undefined {
    const member = this.members.get(name)
    return member?.value.kind === 'text' && member.value.isNull ? undefined : member
  }

  text(name: string): string | undefined {
    const value = this.member(name)?.value
    if (value === undefined || value.kind === 'text') return value?.text
    this.refuse(name, value, 'text')
    return undefined
  }

  flag(name: string): boolean {
    const value = this.member(name)?.value
    if (value === undefined) return false
    const text = value.kind === 'text' ? value.text.toLowerCase() : undefined
    if (text === undefined || !(TRUE.has(text) || FALSE.has(text)))
      this.refuse(name, value, 'true or false')
    return text !== undefined && TRUE.has(text)
  }

  /** A number as 32 bits hold it. */
  count(name: string): number | undefined {
    const value = this.member(name)?.value
    if (value === undefined) return undefined
    const number = value.kind === 'text' && /^\d{1,10}$/.test(value.text) ? Number(value.text) : NaN
    if (number <= LARGEST) return number
    this.refuse(name, value, `a whole number from 0 to ${LARGEST}`)
    return undefined
  }

  list(name: string): readonly SourceNode[] {
    const value = this.member(name)?.value
    if (value === undefined) return []
    if (value.kind === 'list') return value.items
    this.refuse(name, value, 'a list')
    return []
  }

  /** Says that a value is not what is accepted. */
  refuse(name: string, value: SourceNode, accepted: string): void {
    const path = this.pathTo(name)
    const isVariable = value.kind === 'text' && VARIABLE.test(value.text)
    const hint = isVariable ? ' (descriptor files have no variables)' : ''
    this.notes.wrong(value, path, `${path} is ${kindOf(value)}; accepted: ${accepted}${hint}`)
  }
}

function kindOf(node: SourceNode): string {
  if (node.kind === 'text') return node.isNull ? 'empty' : shown(node.text)
  return node.kind === 'list' ? 'a list' : 'an object'
}
