// Refuses the requests of a domain of descriptors that an operator has blocked, before anything is counted.
import { systemClock, type Attributes } from 'sluice'
import type { KnownBlocks } from '../../controls/live-controls.ts'
import { blockedDecision } from '../../limiters/blocking.ts'
import type { Descriptor } from '../wire/request.ts'
import { blockedAnswer, NO_LIMIT, responseOf } from './answer.ts'
import type { Domain } from './domain.ts'
import type { HeaderDialect } from '../../config/envoy-options.ts'
import { DEFAULT_DIALECTS } from './headers.ts'

/** The same domain with blocks in front: a descriptor is blocked when its entries hold a block's attributes. */
export function blockingDomain(
  domain: Domain,
  name: string,
  known: KnownBlocks,
  headers: readonly HeaderDialect[] = DEFAULT_DIALECTS,
): Domain {
  return {
    decide(request) {
      if (known.blocks === null) return domain.decide(request)
      const now = systemClock()
      const decisions = request.descriptors.map((descriptor) =>
        blockedDecision(known, name, attributesOf(descriptor), now),
      )
      if (decisions.every((decision) => decision === undefined)) return domain.decide(request)
      const answers = decisions.map((decision) =>
        decision === undefined ? NO_LIMIT : blockedAnswer(decision),
      )
      return responseOf(answers, headers)
    },
  }
}

/** The entries as attributes; of those with the same key, the last. */
export function attributesOf({ entries }: Descriptor): Attributes {
  const attributes = Object.create(null) as Record<string, string>
  for (const { key, value } of entries) attributes[key] = value
  return attributes
}
