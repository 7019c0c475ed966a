// Makes the attributes of requests that the rules of a policy apply to.
import type { Attributes, Policy } from 'sluice'

/** Every attribute that the policy counts by, with one of so many values, some of them hotter than others. */
export function attributesFor(policy: Policy, keys: number, zipf: number): () => Attributes {
  const names = [...new Set(policy.rules.flatMap(({ by }) => by))]
  const rank = ranks(keys, zipf)
  return () => {
    const value = rank()
    return Object.fromEntries(names.map((name) => [name, valueOf(name, value)]))
  }
}

/** Addresses must look like addresses; they are of a network that is in no use. */
function valueOf(name: string, number: number): string {
  if (name !== 'ip') return `bench-${number}`
  return `100.${64 + ((number >> 16) & 63)}.${(number >> 8) & 255}.${number & 255}`
}

/** Draws numbers from 0 to `count` − 1 by Zipf's law; an exponent of 0 makes them equal. */
function ranks(count: number, exponent: number): () => number {
  const sums = new Float64Array(count)
  let sum = 0
  for (let i = 0; i < count; i++) sums[i] = sum += (i + 1) ** -exponent
  return () => {
    const drawn = Math.random() * sum
    let [low, high] = [0, count - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle]! < drawn) low = middle + 1
      else high = middle
    }
    return low
  }
}
