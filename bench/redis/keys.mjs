// Keys as applications have them, in an order that is no order.
import { seededRandom } from '../lib/random.mjs'

/** So many different keys of the form `user:12345678`. @param {number} count */
export function userKeys(count) {
  const random = seededRandom(7)
  const keys = new Set()
  while (keys.size < count) keys.add(`user:${Math.floor(1e7 + random() * 9e7)}`)
  return /** @type {string[]} */ ([...keys])
}
