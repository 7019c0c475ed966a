// The cluster slot of a name: CRC16 (XMODEM) of its hash tag, modulo 16384.

const SLOTS = 16_384

const TABLE: Uint16Array = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc
})

const encoder = new TextEncoder()

/** The slot of a name made by `redisKeys`, which always has a tag. */
export function slotOf(name: string): number {
  const open = name.indexOf('{')
  const tag = name.slice(open + 1, name.indexOf('}', open))
  let crc = 0
  for (const byte of encoder.encode(tag)) crc = (crc << 8) ^ TABLE[((crc >> 8) ^ byte) & 0xff]!
  return crc & (SLOTS - 1)
}

/** A hash tag for each slot, found on demand, and the next number to try. */
const tags: string[] = []
let nextTag = 0

/** A short tag of a slot: the first whole number in it. */
export function tagOfSlot(slot: number): string {
  while (tags[slot] === undefined) {
    const tag = String(nextTag++)
    tags[slotOf(`{${tag}}`)] ??= tag
  }
  return tags[slot]
}

/** The items of each slot, in order. */
export function groupBySlot<T>(items: Iterable<T>, slotOfItem: (item: T) => number): T[][] {
  const groups = new Map<number, T[]>()
  for (const item of items) {
    const slot = slotOfItem(item)
    const group = groups.get(slot)
    if (group === undefined) groups.set(slot, [item])
    else group.push(item)
  }
  return [...groups.values()]
}

/**
 * The shard of a slot, for what is decided node by node: a cluster fails so. Which node has which slots only the
 * client knows; nodes mostly have long runs of them, so each run of 1024 slots counts as a shard.
 */
export function shardOfSlot(slot: number): number {
  return slot >> 10
}

/** A name of each shard. */
export function keysOfShards(): readonly string[] {
  const names: string[] = []
  const shards = shardOfSlot(SLOTS - 1) + 1
  for (let tag = 0, found = 0; found < shards; tag++) {
    const name = `{${tag}}`
    const shard = shardOfSlot(slotOf(name))
    if (names[shard] !== undefined) continue
    names[shard] = name
    found += 1
  }
  return names
}
