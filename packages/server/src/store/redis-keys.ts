// Lists keys in Redis by SCAN, which never blocks the server, node after node in a cluster.
import type { Cluster, Redis } from 'ioredis'
import { SluiceError } from 'sluice'
import { redisKeys } from 'sluice/redis'
import type { FoundKey, KeyPlace, KeySource, Look } from './key-source.ts'

/** Keys that the server looks at in one call. */
const COUNT = 500
/** How long one call may take, in milliseconds. */
const DEADLINE = 1000
/** The name of a key that is too long, or has characters that names cannot have. */
const HASHED = '~#'

/** Looks through the keys under a prefix. `at` is the number of the node and its cursor. */
export function redisKeySource(client: Redis | Cluster, prefix: string): KeySource {
  const nameOf = redisKeys(prefix)
  /** What the names of one place end in, the brace included. */
  const endOf = (place: KeyPlace): string => nameOf(place.space, 'x').slice(prefix.length + 2)
  return {
    start: '0.0',
    async look<P extends KeyPlace>(
      places: readonly P[],
      at: string,
      text: string,
    ): Promise<Look<P> | undefined> {
      const match = /^(\d{1,4})\.(\d{1,20})$/.exec(at)
      if (match === null) return undefined
      const nodes = nodesOf(client)
      const index = Number(match[1])
      const node = nodes[index]
      if (node === undefined) return { found: [], looked: 0, next: undefined }
      const byEnd = new Map(places.map((place) => [endOf(place), place]))
      const end = places.length === 1 ? escaped(endOf(places[0]!)) : '*'
      const middle = text === '' ? '*' : `*${escaped(text)}*`
      const pattern = `${escaped(`${prefix}{`)}${middle}${end}`
      const answer = node.scan(match[2]!, 'MATCH', pattern, 'COUNT', COUNT)
      const [cursor, names] = await inTime(answer).catch(unreachable)
      const isLast = index + 1 >= nodes.length
      return {
        found: names.flatMap((name) => foundOf(name, prefix, byEnd)),
        looked: COUNT,
        next: cursor !== '0' ? `${index}.${cursor}` : isLast ? undefined : `${index + 1}.0`,
      }
    },
  }
}

function foundOf<P extends KeyPlace>(
  name: string,
  prefix: string,
  byEnd: ReadonlyMap<string, P>,
): readonly FoundKey<P>[] {
  const close = name.lastIndexOf('}')
  const place = byEnd.get(name.slice(close))
  if (place === undefined || !name.startsWith(`${prefix}{`)) return []
  const tag = name.slice(prefix.length + 1, close)
  return [{ place, key: tag.startsWith(HASHED) ? undefined : tag, name: tag }]
}

/** Every node that holds keys, in an order that stays. */
function nodesOf(client: Redis | Cluster): readonly Redis[] {
  if (!client.isCluster) return [client as Redis]
  const address = ({ options: { host, port } }: Redis): string => `${host}:${port}`
  return (client as Cluster).nodes('master').toSorted((a, b) => (address(a) < address(b) ? -1 : 1))
}

/** A string in which nothing is a pattern. */
function escaped(text: string): string {
  return text.replaceAll(/[\\*?[\]^]/g, '\\$&')
}

function unreachable(cause: unknown): never {
  const options = { cause, transient: true }
  throw new SluiceError('store-unreachable', 'the keys in Redis cannot be listed now', options)
}

function inTime<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error(`no answer within ${DEADLINE} ms`))
    const timer = setTimeout(late, DEADLINE)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
