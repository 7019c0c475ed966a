// Finds the block of a request in a few steps, however many blocks there are.
import type { Attributes, Millis } from 'sluice'
import { clientAddress } from 'sluice/http'
import { withBraces, withColons } from '../config/route-spelling.ts'
import type { Block } from './control.ts'

/** The blocks that name the same attributes. */
interface Shape {
  readonly names: readonly string[]
  readonly byValues: Map<string, Block[]>
}

/** How many bits of an IPv6 address identify a client, as for proxies. */
const DEFAULT_PREFIX = 56

/** The keys of a block, worked out once for all indexes that hold it. */
const keysOfBlocks = new WeakMap<Block, readonly string[]>()

/** Blocks by the attributes that they name; it never changes. */
export class BlockIndex {
  readonly size: number
  /** Every attribute that a block names. */
  readonly names: ReadonlySet<string>
  private readonly shapes: readonly Shape[]

  constructor(blocks: readonly Block[], ipv6Prefix: number = DEFAULT_PREFIX) {
    const shapes = new Map<string, Shape>()
    for (const block of blocks) {
      const names = Object.keys(block.attributes).toSorted()
      const id = JSON.stringify(names)
      const shape = shapes.get(id) ?? { names, byValues: new Map<string, Block[]>() }
      shapes.set(id, shape)
      for (const key of keysOf(block, names, ipv6Prefix)) {
        const others = shape.byValues.get(key)
        if (others === undefined) shape.byValues.set(key, [block])
        else others.push(block)
      }
    }
    this.shapes = [...shapes.values()]
    this.names = new Set(this.shapes.flatMap(({ names }) => names))
    this.size = blocks.length
  }

  /** The block that lasts longest of those that hold for a request; undefined when none does. */
  find(policy: string, attributes: Attributes | string, now: Millis): Block | undefined {
    let found: Block | undefined
    for (const { names, byValues } of this.shapes) {
      const key = keyFor(names, attributes)
      const blocks = key === undefined ? undefined : byValues.get(key)
      if (blocks === undefined) continue
      for (const block of blocks) {
        const holds = block.until > now && (block.policy === null || block.policy === policy)
        if (holds && (found === undefined || block.until > found.until)) found = block
      }
    }
    return found
  }
}

/** The key of a request among the blocks that name some attributes; undefined when it does not have them all. */
function keyFor(names: readonly string[], attributes: Attributes | string): string | undefined {
  let key = ''
  for (const name of names) {
    const value = textOf(attributes, name)
    if (value === undefined) return undefined
    key = names.length === 1 ? value : `${key}${value.length}:${value}`
  }
  return key
}

function textOf(attributes: Attributes | string, name: string): string | undefined {
  if (typeof attributes === 'string') return name === 'key' ? attributes : undefined
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined
  return value === undefined || value === null || value === '' ? undefined : String(value)
}

function keysOf(block: Block, names: readonly string[], ipv6Prefix: number): readonly string[] {
  let keys = keysOfBlocks.get(block)
  if (keys === undefined) {
    keys = makeKeys(block, names, ipv6Prefix)
    keysOfBlocks.set(block, keys)
  }
  return keys
}

/** A block of an address or a route also holds for the form in which adapters and proxies name it. */
function makeKeys(
  { attributes }: Block,
  names: readonly string[],
  ipv6Prefix: number,
): readonly string[] {
  const { ip, route } = attributes
  const network = ip?.includes(':') === true ? clientAddress({ ipv6Prefix }).of(ip).ip : undefined
  const templates = route === undefined ? [] : [withBraces(route), withColons(route)]
  const addressed =
    network === undefined ? [attributes] : [attributes, { ...attributes, ip: network }]
  const forms = addressed.flatMap((form) => [
    form,
    ...templates.map((template) => ({ ...form, route: template })),
  ])
  return [...new Set(forms.map((form) => keyFor(names, form)!))]
}
