// The floor of the gRPC benchmark: the request decoded by hand, field by field, and an answer of as many bytes as ours.
import { response, serviceDefinition } from './messages.mjs'

/** The bytes of one status, tag and length included. */
export function statusBytes() {
  const method = serviceDefinition()['ShouldRateLimit']
  if (!method) throw new Error('the service has no ShouldRateLimit')
  return method.responseSerialize(response(1)).subarray(2)
}

/** A frame with so many statuses. @param {number} descriptors @param {Buffer} status */
export function replyFrame(descriptors, status) {
  const frame = Buffer.allocUnsafe(7 + descriptors * status.length)
  frame[0] = 0
  frame.writeUInt32BE(frame.length - 5, 1)
  frame[5] = 8
  frame[6] = 1
  for (let i = 0; i < descriptors; i++) frame.set(status, 7 + i * status.length)
  return frame
}

/** The keys and values of each descriptor of a frame; all messages of the load are shorter than 128 bytes inside. @param {Buffer} bytes */
export function readDescriptors(bytes) {
  const descriptors = /** @type {string[][]} */ ([])
  for (let at = 5; at < bytes.length;) {
    const tag = bytes[at]
    const end = at + 2 + Number(bytes[at + 1])
    if (tag === 0x12) descriptors.push(readEntries(bytes, at + 2, end))
    at = end
  }
  return descriptors
}

/** @param {Buffer} bytes @param {number} start @param {number} end */
function readEntries(bytes, start, end) {
  const texts = /** @type {string[]} */ ([])
  // Two bytes of the entry, then its fields: a tag, a length and the text.
  for (let at = start + 2; at < end;) {
    const stop = at + 2 + Number(bytes[at + 1])
    texts.push(bytes.toString('latin1', at + 2, stop))
    at = stop
  }
  return texts
}
