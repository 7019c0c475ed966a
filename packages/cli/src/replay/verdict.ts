// The finding of a replay in one sentence.
import type { CandidateResult, ReplayResult } from './result.ts'
import { algorithmName, count, countOf, percent, rateOf } from '../terminal/words.ts'

/** A limit that refuses fewer clients than this share affects almost nobody. */
const FEW_CLIENTS = 0.01

/** One sentence that says what the candidates would have done. */
export function verdictOf(result: Omit<ReplayResult, 'verdict'>): string {
  const { input, candidates, clients } = result
  const [only] = candidates
  const soFar = input.stopped ? 'So far, ' : ''
  if (input.requests === 0 || only === undefined) return 'The log has no requests to decide about.'
  if (candidates.length === 1) {
    const name = capitalized(`${soFar}${nameOf(only)}`)
    return only.refused === 0
      ? `${name} would have refused none of ${countOf(input.requests, 'request')}.`
      : `${name} ${effectOf(only, result)}.`
  }
  const few = candidates
    .filter(({ clientShare, limit }) => limit !== null && clientShare < FEW_CLIENTS)
    .toSorted(
      (a, b) => rate(a) - rate(b) || a.clientsHit - b.clientsHit || a.refused - b.refused,
    )[0]
  if (few !== undefined)
    return `${capitalized(`${soFar}${nameOf(few)}`)} is the lowest limit tried that touches fewer than ${percent(FEW_CLIENTS)} of ${countOf(clients, 'client')}: it would have refused ${refusals(few, result)}.`
  const mildest = candidates.toSorted(
    (a, b) => a.clientShare - b.clientShare || a.refused - b.refused,
  )[0]!
  return `${soFar}every candidate touches ${percent(FEW_CLIENTS)} of ${countOf(clients, 'client')} or more; the mildest, ${nameOf(mildest)}, would have refused ${refusals(mildest, result)}.`.replace(
    /^./,
    (first) => first.toUpperCase(),
  )
}

function effectOf(candidate: CandidateResult, result: Omit<ReplayResult, 'verdict'>): string {
  const [worst] = candidate.victims
  const worstClient =
    worst === undefined
      ? ''
      : `; the most refused, ${worst.client}, lost ${count(worst.refused)} of ${count(worst.requests)}`
  return `would have refused ${refusals(candidate, result)}${worstClient}`
}

function refusals(
  candidate: CandidateResult,
  { input, clients }: Omit<ReplayResult, 'verdict'>,
): string {
  const { refused, refusedShare, clientsHit, clientShare } = candidate
  return `${count(refused)} of ${countOf(input.requests, 'request')} (${percent(refusedShare)}) and touched ${count(clientsHit)} of ${countOf(clients, 'client')} (${percent(clientShare)})`
}

function nameOf({ name, limit }: CandidateResult): string {
  return limit === null ? `policy ${name}` : `${rateOf(limit)} by ${algorithmName(limit.algorithm)}`
}

function rate({ limit }: CandidateResult): number {
  return limit === null ? Infinity : limit.quota / limit.window
}

function capitalized(text: string): string {
  return text.replace(/^[a-z]/, (first) => first.toUpperCase())
}
