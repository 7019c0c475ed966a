// Strings of conditions and tiers that look like patterns of another language: they are compared literally, so no request matches them.
import { BlockList, isIP } from 'node:net'
import { mistakenGlob, mistakenPlace } from './mistaken-texts.ts'

/** Why a string is probably not meant literally, and what to write; undefined if nothing is wrong with it. */
export function literalPattern(attribute: string, text: string): string | undefined {
  const list = listIn(text)
  if (list !== undefined)
    return `it is one string, not a list; write [${list.map((one) => JSON.stringify(one)).join(', ')}]`
  if (isExpression(text))
    return 'it is no regular expression here; accepted: a string, a prefix that ends in *, or a list of these'
  if (/^!=?\s*\S|^(?:not|NOT)\s+\S/.test(text))
    return 'there is no "not" in conditions; list the values that are meant'
  if (/^(["'`]).+\1$/.test(text))
    return `the quotes are part of it; write ${JSON.stringify(text.slice(1, -1))} without them`
  if (/^==?\s*\S/.test(text))
    return `the = is part of it; write ${JSON.stringify(text.replace(/^==?\s*/, ''))}`
  if (/[\u200B-\u200F\u2060\uFEFF\u00AD]/.test(text))
    return `it has an invisible character; write ${JSON.stringify(text.replaceAll(/[\u200B-\u200F\u2060\uFEFF\u00AD]/g, ''))}`
  if (/[a-z][\u0400-\u04FF]|[\u0400-\u04FF][a-z]/i.test(text))
    return 'it mixes Latin and Cyrillic letters that look alike; write it anew'
  if (/^[<>]=?\s*-?\d/.test(text)) return 'numbers are not compared by size; list the values'
  if (attribute !== 'ip' && attribute !== 'network' && isNetwork(text))
    return `it is compared as text; write { network: ${JSON.stringify(text)} }`
  return mistakenGlob(text) ?? mistakenPlace(attribute, text)
}

/** Whether a string is a network such as 10.0.0.0/8. */
export function isNetwork(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/')
  const version = isIP(address)
  return (
    rest.length === 0 &&
    version !== 0 &&
    /^\d{1,3}$/.test(bits) &&
    Number(bits) <= (version === 4 ? 32 : 128)
  )
}

/** Whether every address of one network, or an address, is in another. */
export function isWithin(narrow: string, wide: string): boolean {
  const [inner, outer] = [partsOf(narrow), partsOf(wide)]
  if (inner === undefined || outer === undefined || inner.family !== outer.family) return false
  if (inner.bits < outer.bits) return false
  const block = new BlockList()
  block.addSubnet(outer.address, outer.bits, outer.family)
  return block.check(inner.address, inner.family)
}

/** Whether no address is in both of two networks. False when in doubt. */
export function areApart(a: string, b: string): boolean {
  const [one, other] = [partsOf(a), partsOf(b)]
  // An IPv6 address may carry an IPv4 address.
  if (one === undefined || other === undefined || one.family !== other.family) return false
  return !isWithin(a, b) && !isWithin(b, a)
}

interface NetworkParts {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

function partsOf(text: string): NetworkParts | undefined {
  if (!isNetwork(text) && isIP(text) === 0) return undefined
  const [address = '', bits] = text.split('/')
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  return {
    address,
    family,
    bits: bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits),
  }
}

/** The entries of a list that stands in one text: `GET, POST`, `[a, b]` or `free|pro`. */
export function listIn(text: string): readonly string[] | undefined {
  const inner = /^\[(.*)\]$/s.exec(text)?.[1] ?? text
  const isBracketed = inner !== text
  const separator = inner.includes(';') ? ';' : / or /i.test(inner) ? / or /i : ','
  const words = inner.split(separator).map((word) => word.trim().replaceAll(/^["']|["']$/g, ''))
  // A surname and a first name are one text.
  const isName = !isBracketed && /^\p{Lu}\p{Ll}+, \p{Lu}\p{Ll}+$/u.test(text)
  if (words.length > 1 && !isName && words.every((word) => /^[\w./{}:*-]+$/.test(word)))
    return words
  const choices = inner
    .replace(/^\^?\(?/, '')
    .replace(/\)?\$?$/, '')
    .split('|')
  // Ids such as auth0|5f7 hold digits.
  if (choices.length > 1 && choices.every((word) => /^[A-Za-z-]+$/.test(word))) return choices
  return undefined
}

/** Whether a string is a regular expression. Beginnings such as `payments.*` are not taken for one. */
function isExpression(text: string): boolean {
  if (text.startsWith('^')) return true
  if (/^\/.*\$$/.test(text) || text.endsWith('/.*') || text.endsWith('/.+')) return true
  return /\\[dws][+*{]|\\[./]|\[(?:\^|[a-z0-9]-[a-z0-9])[^\]]*\]|\(\?[:=!]/i.test(text)
}
