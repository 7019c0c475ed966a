// The limits of one domain as a tree of keys and values, in which the rule of a descriptor is looked up.
import type { Entry } from '../wire/request.ts'
import { countKey, countKeyOfOne } from './count-key.ts'
import type { DescriptorConfig, DomainConfig } from './domain-config.ts'
import { knownUnit, placer, type DescriptorRule, type Placing } from './rule.ts'

/** A place in the tree. */
interface Node {
  readonly rule: DescriptorRule | undefined
  readonly next: ReadonlyMap<string, Choices>
  /** The part of the key in place of the value, when all values share one count. */
  readonly sharedValue: string | undefined
}

/** What may follow a key, in the order in which it is tried. */
interface Choices {
  readonly exact: Map<string, Node>
  readonly prefixes: { readonly prefix: string; readonly node: Node }[]
  any: Node | undefined
}

/** The rule for a descriptor and the key of its count. */
interface Match {
  readonly rule: DescriptorRule
  readonly key: string
}

/** All limits of one domain. */
export interface DescriptorTree {
  /**
   * The rule whose path is the descriptor's, step by step: the value itself first, then prefixes in the file's
   * order, then the key alone. The first choice is final, and paths must be of equal length.
   */
  match(entries: readonly Entry[]): Match | undefined
  /** Every rule, in the file's order. */
  readonly rules: readonly DescriptorRule[]
}

/** Makes the tree of a configuration that has been checked. */
export function descriptorTree(config: DomainConfig, placing: Placing): DescriptorTree {
  const rules: DescriptorRule[] = []
  const next = growAll(config.descriptors, [], { placing, rules })
  return { rules, match: (entries) => walk(next, entries) }
}

function walk(start: ReadonlyMap<string, Choices>, entries: readonly Entry[]): Match | undefined {
  let next = start
  let node: Node | undefined
  let isShared = false
  for (const { key, value } of entries) {
    const choices = next.get(key)
    if (choices === undefined) return undefined
    node = choose(choices, value)
    if (node === undefined) return undefined
    if (node.sharedValue !== undefined) isShared = true
    next = node.next
  }
  if (node?.rule === undefined) return undefined
  if (entries.length === 1 && !isShared)
    return { rule: node.rule, key: countKeyOfOne(entries[0]!.value) }
  return {
    rule: node.rule,
    key: countKey(isShared ? sharedValues(start, entries) : valuesOf(entries)),
  }
}

function choose(choices: Choices, value: string): Node | undefined {
  // A map lookup would hash the value for this alone.
  const exact = choices.exact.size === 0 ? undefined : choices.exact.get(value)
  if (exact !== undefined) return exact
  for (const { prefix, node } of choices.prefixes) if (value.startsWith(prefix)) return node
  return choices.any
}

function valuesOf(entries: readonly Entry[]): readonly string[] {
  return entries.map(({ value }) => value)
}

/** The values, each that shares a count replaced by what it shares. */
function sharedValues(
  start: ReadonlyMap<string, Choices>,
  entries: readonly Entry[],
): readonly string[] {
  let next = start
  return entries.map(({ key, value }) => {
    const node = choose(next.get(key)!, value)!
    next = node.next
    return node.sharedValue ?? value
  })
}

interface GrowingNode {
  readonly placing: Placing
  readonly rules: DescriptorRule[]
}

function growAll(
  configs: readonly DescriptorConfig[],
  path: readonly DescriptorConfig[],
  growing: GrowingNode,
): ReadonlyMap<string, Choices> {
  const all = new Map<string, Choices>()
  for (const config of configs) {
    let choices = all.get(config.key)
    if (choices === undefined) {
      choices = { exact: new Map(), prefixes: [], any: undefined }
      all.set(config.key, choices)
    }
    const node = grow(config, [...path, config], growing)
    const value = config.value ?? ''
    if (value === '') choices.any = node
    else if (isPrefix(value)) choices.prefixes.push({ prefix: value.slice(0, -1), node })
    else choices.exact.set(value, node)
  }
  return all
}

function grow(
  config: DescriptorConfig,
  path: readonly DescriptorConfig[],
  growing: GrowingNode,
): Node {
  const rule = config.rateLimit === undefined ? undefined : ruleOf(config, path, growing.placing)
  if (rule !== undefined) growing.rules.push(rule)
  const { value = '' } = config
  return {
    rule,
    next: growAll(config.descriptors ?? [], path, growing),
    sharedValue: config.shareThreshold === true && isPrefix(value) ? value : undefined,
  }
}

/** Whether a configured value is a prefix. */
export function isPrefix(value: string): boolean {
  return value.endsWith('*')
}

function ruleOf(
  config: DescriptorConfig,
  path: readonly DescriptorConfig[],
  placing: Placing,
): DescriptorRule {
  const { name = '', unlimited, requestsPerUnit = 0, unit, replaces = [] } = config.rateLimit ?? {}
  // Values are the key's part: a value that gets a rule of its own keeps its count.
  const keys = path.map(({ key }) => key)
  const place = placer(placing, keys, name)
  return {
    path: rulePathText(path),
    keys,
    counted: { name: rulePathText(path) },
    name,
    replaces,
    shadow: config.shadowMode === true || config.quotaMode === true,
    quotaMode: config.quotaMode === true,
    placed: unlimited === true ? null : place(requestsPerUnit, knownUnit(unit)),
    override: place,
  }
}

/** A path as people write it. */
export function rulePathText(
  path: readonly { readonly key: string; readonly value?: string }[],
): string {
  return path.map(({ key, value = '' }) => (value === '' ? key : `${key}=${value}`)).join(', ')
}
