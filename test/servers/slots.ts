// Says which hash slot of a Redis Cluster a key belongs to, independently of any client.

/** How many hash slots a cluster has. */
export const slotCount = 16_384

/** The slot of a key. When the key has a hash tag, `a{tag}b`, only the tag counts. */
export function slotOf(key: string): number {
  return crc16(Buffer.from(hashedPart(key))) % slotCount
}

/** What is between the first `{` and the next `}`, unless that is nothing. */
function hashedPart(key: string): string {
  const open = key.indexOf('{')
  const close = key.indexOf('}', open + 1)
  return open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key
}

/** CRC-16/XMODEM: polynomial 0x1021, initial value 0. */
function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) {
      crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff
    }
  }
  return crc
}
