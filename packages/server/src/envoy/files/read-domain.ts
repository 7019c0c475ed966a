// Reads one file of descriptors in the format of Envoy's own rate limit service.
import { SluiceError, type AlgorithmName } from 'sluice'
import type { ConfigProblem } from '../../config/problem.ts'
import { limitOf } from '../descriptors/rule.ts'
import { rulePathText } from '../descriptors/tree.ts'
import { UNITS, unitNamed } from '../descriptors/unit.ts'
import { Fields } from './fields.ts'
import { readNode, type SourceNode } from './node.ts'
import { Notes, type FileWarning } from './notes.ts'
import { reportDomain } from './text-traps.ts'
import { reportTraps, type PlacedDescriptor, type PlacedRateLimit } from './traps.ts'

/** A domain and where its parts are written. */
export interface FileDomain {
  readonly domain: string
  readonly descriptors: readonly PlacedDescriptor[]
}

/** What a file says. The domain is absent when the file has problems. */
export interface FileReading {
  readonly domain: FileDomain | undefined
  readonly problems: readonly ConfigProblem[]
  readonly warnings: readonly FileWarning[]
}

const ROOT = ['domain', 'descriptors']
const DESCRIPTOR = [
  'key',
  'value',
  'rate_limit',
  'descriptors',
  'shadow_mode',
  'quota_mode',
  'share_threshold',
  'detailed_metric',
  'value_to_metric',
]
const RATE_LIMIT = ['unit', 'requests_per_unit', 'unlimited', 'name', 'replaces']

/**
 * Reads a file. Every mistake is a problem with its place; what is allowed but rarely meant is a warning. Names in
 * `replaces` are judged by `replacesWarnings`, since other files may have them.
 */
export function readDomain(text: string, file: string, algorithm: AlgorithmName): FileReading {
  const read = readNode(text, file)
  if ('problems' in read) return { domain: undefined, problems: read.problems, warnings: [] }
  const notes = new Notes(file)
  const fields = new Fields(read.node, '', ROOT, notes)
  const domain = fields.text('domain') ?? ''
  if (domain === '' && read.node.kind === 'map')
    notes.wrong(read.node, 'domain', 'domain is missing; accepted: the name that proxies ask for')
  const descriptors = readDescriptors(fields, [], { notes, algorithm })
  const { problems, warnings } = notes
  if (problems.length > 0) return { domain: undefined, problems, warnings }
  reportDomain(domain, descriptors, read.node, notes)
  reportTraps(descriptors, notes)
  return { domain: { domain, descriptors }, problems, warnings }
}

interface Reading {
  readonly notes: Notes
  readonly algorithm: AlgorithmName
}

function readDescriptors(
  fields: Fields,
  path: readonly { key: string; value?: string }[],
  reading: Reading,
): readonly PlacedDescriptor[] {
  const seen = new Set<string>()
  return fields.list('descriptors').map((node, i) => {
    const inner = new Fields(
      node,
      `${fields.pathTo('descriptors')}[${i}]`,
      DESCRIPTOR,
      reading.notes,
    )
    const descriptor = readDescriptor(inner, path, reading)
    const id = JSON.stringify([descriptor.key, descriptor.value ?? ''])
    if (seen.has(id)) {
      const name = rulePathText([...path, descriptor])
      reading.notes.wrong(
        node,
        inner.pathTo('key'),
        `the descriptor ${name} is there twice; accepted: each once`,
      )
    }
    seen.add(id)
    return descriptor
  })
}

function readDescriptor(
  fields: Fields,
  path: readonly { key: string; value?: string }[],
  reading: Reading,
): PlacedDescriptor {
  const { notes } = reading
  const { node } = fields
  const key = fields.text('key') ?? ''
  if (key === '' && node.kind === 'map')
    notes.wrong(
      node,
      fields.pathTo('key'),
      `${fields.pathTo('key')} is missing; accepted: the name of an entry`,
    )
  const value = fields.text('value') ?? ''
  for (const name of ['detailed_metric', 'value_to_metric']) {
    const member = fields.member(name)
    if (member !== undefined && fields.flag(name))
      notes.warn(
        'metric-ignored',
        member,
        fields.pathTo(name),
        `${name} is ignored: metrics are by rule, never by the values of requests`,
      )
  }
  const here = [...path, value === '' ? { key } : { key, value }]
  const rateLimit = readRateLimit(fields, reading)
  return {
    place: { line: node.line, column: node.column },
    path: rulePathText(here),
    key,
    ...(value !== '' && { value }),
    ...(rateLimit !== undefined && { rateLimit }),
    descriptors: readDescriptors(fields, here, reading),
    shadowMode: fields.flag('shadow_mode'),
    quotaMode: fields.flag('quota_mode'),
    shareThreshold: fields.flag('share_threshold'),
  }
}

function readRateLimit(outer: Fields, { notes, algorithm }: Reading): PlacedRateLimit | undefined {
  const member = outer.member('rate_limit')
  if (member === undefined) return undefined
  const fields = new Fields(member.value, outer.pathTo('rate_limit'), RATE_LIMIT, notes)
  const name = fields.text('name') ?? ''
  const unlimited = fields.flag('unlimited')
  const unit = fields.text('unit') ?? ''
  const known = unitNamed(unit)
  const requestsPerUnit = fields.count('requests_per_unit')
  const place = { line: member.line, column: member.column }
  if (unlimited && known !== undefined)
    fields.refuse('unit', fields.member('unit')!.value, 'no unit where unlimited is true')
  if (!unlimited && known === undefined)
    fields.refuse(
      'unit',
      fields.member('unit')?.value ?? missing(fields.node),
      UNITS.map(({ name }) => name).join(', '),
    )
  if (known !== undefined && requestsPerUnit !== undefined) {
    try {
      limitOf(requestsPerUnit, known, algorithm)
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      notes.wrong(place, fields.pathTo('requests_per_unit'), error.message)
    }
  }
  return {
    place,
    ...(name !== '' && { name }),
    ...(unlimited ? { unlimited } : { unit, requestsPerUnit: requestsPerUnit ?? 0 }),
    hasRequests: requestsPerUnit !== undefined,
    replaces: readReplaces(fields, name, notes),
  }
}

function missing({ line, column }: SourceNode): SourceNode {
  return { line, column, kind: 'text', text: '', isNull: true }
}

function readReplaces(outer: Fields, ownName: string, notes: Notes): readonly string[] {
  return outer.list('replaces').map((node, i) => {
    const fields = new Fields(node, `${outer.pathTo('replaces')}[${i}]`, ['name'], notes)
    const name = fields.text('name') ?? ''
    if (name === '' || name === ownName)
      notes.wrong(
        node,
        fields.pathTo('name'),
        `${fields.pathTo('name')} is ${name === '' ? 'missing' : "the limit's own name"}; accepted: the name of another limit`,
      )
    return name
  })
}
