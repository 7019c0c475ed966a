// Inputs that are nearly right: a valid one with bytes changed, parts repeated, left out or replaced by telling words.
import { randomFrom } from '../faults/random.ts'

/** Words that parsers stumble over. */
const WORDS = [
  '',
  '\0',
  '\r\n',
  '\r\n\r\n',
  '%2f',
  '%5c',
  '%',
  '..',
  '/',
  ';',
  '"',
  '\\',
  ',',
  '\t',
  ' ',
  '{',
  '}',
  '[',
  ']',
  ':',
  '-1',
  '0',
  '1e999',
  '9007199254740993',
  'null',
  'true',
  '\u00ff',
  '__proto__',
  'constructor',
  'Content-Length: 7',
  'Transfer-Encoding: chunked',
  'Host: y',
  'for="',
  'for=@',
  '::ffff:1.2.3.4',
  'unknown',
  'x'.repeat(300),
  '漢',
  '\ud800',
  '*',
  '&a *a',
]

/** Makes any number of inputs from some valid ones; the same for the same seed. */
export function mutations(seed: number, valid: readonly (string | Buffer)[]): () => Buffer {
  const random = randomFrom(seed)
  const below = (end: number): number => Math.floor(random() * end)
  const change = (input: Buffer): Buffer => {
    const at = below(input.length + 1)
    const end = Math.min(input.length, at + below(12))
    const [head, middle, tail] = [
      input.subarray(0, at),
      input.subarray(at, end),
      input.subarray(end),
    ]
    const word = Buffer.from(WORDS[below(WORDS.length)]!, 'latin1')
    const other = Buffer.from(valid[below(valid.length)]!)
    switch (below(6)) {
      case 0:
        return Buffer.concat([head, Buffer.from([below(256)]), tail])
      case 1:
        return Buffer.concat([head, word, middle, tail])
      case 2:
        return Buffer.concat([head, word, tail])
      case 3:
        return Buffer.concat([head, middle, middle, tail])
      case 4:
        return Buffer.concat([head, other.subarray(below(other.length))])
      default:
        return Buffer.concat([head, tail])
    }
  }
  return () => {
    let input: Buffer = Buffer.from(valid[below(valid.length)]!)
    for (let i = below(4); i >= 0; i--) input = change(input)
    return input
  }
}
