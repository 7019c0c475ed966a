// Reads the descriptors of envoyproxy/ratelimit as a policy.
import type { Condition, Rule } from 'sluice'
import { parse } from 'yaml'
import { Mistake } from '../terminal/mistake.ts'
import type { Imported, Note } from './imported.ts'

interface DescriptorNode {
  readonly key?: string
  /** YAML may read it as a number or a boolean. */
  readonly value?: string | number | boolean
  readonly rate_limit?: Readonly<Record<string, unknown>> | null
  readonly shadow_mode?: unknown
  readonly quota_mode?: unknown
  readonly detailed_metric?: unknown
  readonly descriptors?: readonly DescriptorNode[]
}

const UNITS: Readonly<Record<string, string>> = {
  second: '1s',
  minute: '1min',
  hour: '1h',
  day: '1d',
  week: '7d',
  month: '30d',
  year: '365d',
}

/** Fields of a descriptor that are part of a rule. */
const FIELDS = ['key', 'value', 'rate_limit', 'shadow_mode', 'descriptors']

/** One rule for each limit: keys with values are its conditions, keys without are what it counts by. */
export function importEnvoy(text: string, file: string): Imported {
  const document = parse(text) as { domain?: unknown; descriptors?: unknown } | null
  if (typeof document?.domain !== 'string' || !Array.isArray(document.descriptors))
    throw new Mistake(`${file} has no domain and descriptors, as files of envoyproxy/ratelimit do`)
  const notes: Note[] = [
    {
      text: `the service reads this file as it is: envoy: { files: [${file}] }. A policy differs: its rules apply to every request that has their attributes, also if it has more`,
    },
  ]
  const rules: Rule[] = []
  const walk = (nodes: readonly DescriptorNode[], path: readonly DescriptorNode[]): void => {
    for (const node of nodes) {
      const here = [...path, node]
      for (const field of Object.keys(node))
        if (!FIELDS.includes(field))
          notes.push({ text: `${nameOf(here)}: ${field} has no counterpart in a policy` })
      if (node.rate_limit) addRule(here, node, rules, notes)
      if (Array.isArray(node.descriptors)) walk(node.descriptors, here)
    }
  }
  walk(document.descriptors as DescriptorNode[], [])
  return { policies: [{ name: document.domain, rules }], notes, edits: [] }
}

function addRule(
  path: readonly DescriptorNode[],
  node: DescriptorNode,
  rules: Rule[],
  notes: Note[],
): void {
  const { unit, requests_per_unit: quota, unlimited, name, replaces } = node.rate_limit!
  const label = nameOf(path)
  if (replaces !== undefined)
    notes.push({
      text: `${label}: replaces has no counterpart; give the rules conditions that exclude each other`,
    })
  if (unlimited === true) {
    notes.push({ text: `${label}: unlimited; no rule was written, as none limits it` })
    return
  }
  const window = UNITS[String(unit).toLowerCase()]
  if (window === undefined || !Number.isSafeInteger(quota)) {
    notes.push({
      text: `${label}: its unit ${JSON.stringify(unit)} is not known`,
    })
    return
  }
  const when: Record<string, string> = {}
  for (const { key, value } of path) if (value !== undefined) when[String(key)] = String(value)
  const by = path.filter(({ value }) => value === undefined).map(({ key }) => String(key))
  const hasWildcard = Object.values(when).some((value) => value.endsWith('*'))
  rules.push({
    name: typeof name === 'string' ? name : label,
    ...(Object.keys(when).length > 0 ? { when: when as Condition } : {}),
    by: hasWildcard ? [...by, ...Object.keys(when).filter((key) => when[key]!.endsWith('*'))] : by,
    limit: { quota: quota as number, window: window as '1s', algorithm: 'fixed-window' },
    // Neither refuses there.
    ...(node.shadow_mode === true || node.quota_mode === true ? { shadow: true } : {}),
  })
}

function nameOf(path: readonly DescriptorNode[]): string {
  return path
    .map(({ key, value }) =>
      value === undefined ? String(key) : `${String(key)}_${String(value)}`,
    )
    .join('.')
}
