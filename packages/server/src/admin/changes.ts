// What operators may do: read, reset and grant counts, block and unblock, set and remove overrides.
import { explain, type Decision, type Millis, type Policy, type Store } from 'sluice'
import { controlId, isBlockOf, type Block } from '../controls/control.ts'
import { ControlsTooLate, type LiveControls } from '../controls/live-controls.ts'
import { overrideProblem } from '../controls/overlay.ts'
import { limiterFor, type Limiters, type LimiterSource } from '../limiters/limiters.ts'
import { visible } from '../log/client-text.ts'
import { RequestError } from '../net/problem.ts'
import type { CountedDomain } from '../limiters/counted-domains.ts'
import { explainConditional } from './keys/conditional-rules.ts'
import type { Inspectors } from './keys/inspectors.ts'
import {
  countsOfDomain,
  countsOfPolicy,
  ruleNamed,
  type OperatedCounts,
} from './keys/operated-counts.ts'
import { blockName, blockShown, blockText, overrideShown } from './shown.ts'
import { readRequest, subjectOf, wrong, type ChangeName } from './requests.ts'
import { blockWarnings, overrideWarnings, type KnownRequests } from './silent-controls.ts'

/** What the operations work on. */
export interface ChangeOptions {
  readonly limiters: LimiterSource
  readonly controls: LiveControls
  readonly inspectors: Inspectors
  /** The domains of descriptors. */
  readonly domains: () => readonly CountedDomain[]
  /** The store itself, and the one that answers also while a remote store cannot. */
  readonly store: Store
  readonly guarded: Store
  /** Whether a name may be that of a domain of descriptors. */
  readonly mayBeDomain: boolean
  readonly idle: () => ReadonlyMap<string, string>
  /** What requests may have, for warnings about those that none has. */
  readonly requests: Pick<KnownRequests, 'proxy' | 'proxyPolicy'>
}

/** Does one operation for the holder of a token; returns the answer. */
export type Change = (body: unknown, by: string) => Promise<unknown>

/** Every operation by POST. Each throws a {@link RequestError} for a request that is wrong. */
export function changes(options: ChangeOptions): Readonly<Record<ChangeName, Change>> {
  const { limiters, controls, inspectors } = options
  const known: KnownRequests = {
    ...options.requests,
    policies: () => limiters.current.policies,
    hasDescriptors: options.mayBeDomain,
  }

  const read = async (body: unknown) => {
    const request = readRequest('read', body)
    const attributes = subjectOf(request)
    const counts = countsOf(request.policy)
    const { name } = counts
    const { cost = 1 } = request
    const peeked = await counts.peek(attributes, cost)
    const conditional = await counts.conditional(attributes, cost, peeked)
    const explained = [...explain(peeked).split('\n'), ...explainConditional(conditional)]
    const now = Date.now()
    const block = controls.blocks?.find(name, attributes, now)
    if (block === undefined)
      return { policy: name, block: null, decision: peeked, conditional, explained }
    return {
      policy: name,
      conditional,
      block: blockShown(block),
      decision: blockedDecision(peeked, block.until - now),
      explained: [blockText(block), ...explained.map((line) => `without the block: ${line}`)],
    }
  }
  /** The counts of a policy, or of a domain of descriptors if no policy has the name. */
  const countsOf = (name: string | undefined): OperatedCounts => {
    const { current } = limiters
    const domains = options.domains()
    const only = current.policies.length === 0 && domains.length === 1 ? domains[0] : undefined
    const domain =
      name === undefined
        ? only
        : current.byName.has(name)
          ? undefined
          : domains.find((one) => one.name === name)
    return domain === undefined
      ? countsOfPolicy(policyFor(current, name), current, inspectors)
      : countsOfDomain(domain, options)
  }

  return {
    read,
    reset: async (body) => {
      const request = readRequest('reset', body)
      const attributes = subjectOf(request)
      const counts = countsOf(request.policy)
      await counts.reset(attributes, request.rule)
      return read({ policy: counts.name, attributes })
    },
    grant: async (body) => {
      const request = readRequest('grant', body)
      const attributes = subjectOf(request)
      const counts = countsOf(request.policy)
      await counts.refund(attributes, request.units, request.rule)
      return read({ policy: counts.name, attributes })
    },
    block: async (body, by) => {
      const request = readRequest('block', body)
      const attributes = subjectOf(request)
      const policy = request.policy ?? null
      if (policy !== null && !options.mayBeDomain) policyFor(limiters.current, policy)
      const id = controlId('block', [policy, attributes])
      const { note } = request
      await set({ kind: 'block', id, policy, attributes, note, by }, request.for)
      const made = controls.find(id)
      return {
        block: made?.kind === 'block' ? blockShown(made) : null,
        warnings: blockWarnings(attributes, known, request.policy),
      }
    },
    unblock: async (body) => {
      const request = readRequest('unblock', body)
      const attributes = subjectOf(request)
      const id = controlId('block', [request.policy ?? null, attributes])
      const others = () => controls.listBlocks().filter((one) => isBlockOf(one, attributes))
      await removed(id, () => noBlock(request.policy, others()))
      return { blocks: others().map(blockShown) }
    },
    'set-override': async (body, by) => {
      const request = readRequest('set-override', body)
      const policy = policyFor(limiters.current, request.policy)
      const { name: rule } = ruleNamed(policy, request.rule)
      const { when, limit } = request
      const override = { rule, when, limit }
      const problem = overrideProblem(policy, override)
      if (problem !== undefined) throw new RequestError(400, 'invalid-override', problem)
      const id = controlId('override', [policy.name, rule, override.when])
      const said = { policy: policy.name, note: request.note, by }
      await set({ kind: 'override', id, ...override, ...said }, request.for ?? null)
      const made = controls.find(id)
      return {
        override: made?.kind === 'override' ? overrideShown(made, options.idle()) : null,
        warnings: overrideWarnings(when, known, { policy: policy.name, limit }),
      }
    },
    'remove-override': async (body) => {
      const request = readRequest('remove-override', body)
      const policy = request.policy ?? limiters.current.only
      if (policy === undefined) throw wrong('policy', 'missing; accepted: the name of a policy')
      const id = controlId('override', [policy, request.rule, request.when])
      await removed(id, () => 'there is no such override')
      return {}
    },
  }

  async function set(...control: Parameters<LiveControls['put']>): Promise<void> {
    if (!(await kept(controls.put(...control))))
      throw new RequestError(409, 'too-many', 'there is no room for more blocks and overrides')
  }

  async function removed(id: string, detail: () => string): Promise<void> {
    if (!(await kept(controls.remove(id)))) throw new RequestError(404, 'not-found', detail())
  }
}

/** Why no block was ended, and which ones hold for the same attributes. */
function noBlock(policy: string | undefined, others: readonly Block[]): string {
  if (others.length === 0) return 'no block has exactly these attributes'
  const where = policy === undefined ? 'every policy' : `policy ${visible(policy)}`
  const names = others.slice(0, 10).map(blockName).join(', ')
  return `no block of ${where} has exactly these attributes; what holds is: ${names}`
}

/** What a blocked caller is answered, with the counts that the block hides from it. */
function blockedDecision(counts: Decision, retryAfter: Millis): Decision {
  // Not by spreading: the numbers of a decision are worked out when they are read.
  const { rule, limit, remaining, resetAfter, at, degraded, outcomes, skipped } = counts
  const refused = { allowed: false, reason: 'blocked', retryAfter, delay: 0 } as const
  return { ...refused, rule, limit, remaining, resetAfter, at, degraded, outcomes, skipped }
}

/** An error of the place where controls are kept, as what it is to the caller. */
async function kept<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    const isLate = error instanceof ControlsTooLate
    const detail = isLate
      ? 'there was no answer in time; it may still take effect'
      : 'blocks and overrides cannot be reached; nothing has changed'
    throw new RequestError(503, isLate ? 'store-timeout' : 'store-unreachable', detail)
  }
}

function policyFor(limiters: Limiters, name: string | undefined): Policy {
  // Says what is wrong with the name.
  limiterFor(limiters, name)
  return limiters.policies.find((policy) => policy.name === (name ?? limiters.only))!
}
