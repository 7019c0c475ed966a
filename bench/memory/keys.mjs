// Keys as they come off a socket: flat strings of 16 characters, none like its neighbour.

const DIGITS = Buffer.from('0123456789abcdef', 'latin1')

/** The keys of the numbers from `from` to `to`, the last excluded. @param {number} from @param {number} to */
export function keysOf(from, to) {
  const bytes = Buffer.from('user:7d300000000', 'latin1')
  return Array.from({ length: to - from }, (_, i) => {
    let rest = scrambled(from + i)
    for (let place = 15; place >= 8; place--) {
      bytes[place] = /** @type {number} */ (DIGITS[rest & 15])
      rest >>>= 4
    }
    return bytes.toString('latin1')
  })
}

/** A different 32-bit number for every 32-bit number. @param {number} number */
function scrambled(number) {
  let mixed = Math.imul(number ^ (number >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** All indices in turn, in the shape of an order of traffic. @param {number} count */
export function inTurn(count) {
  return new Uint32Array(2 ** Math.ceil(Math.log2(count))).map((_, i) => i % count)
}
