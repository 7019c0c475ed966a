// The seam between operators and the domains of descriptors: where their counts live, and what a count belongs to.
import type { Attributes, Check, DecisionRequest } from 'sluice'

/** A list of keys with a unit of time: all descriptors of these keys are counted in one space. */
export interface DescriptorPlace {
  readonly space: string
  /** The paths of the rules that count here, such as `message_type=marketing, to_number`. */
  readonly rules: readonly string[]
}

/** One count of a domain. */
export interface DescriptorCount {
  /** The path of the rule; for a count whose values are hashed, the keys of its place. */
  readonly rule: string
  /** The entries in their order; null when the key holds no more than their hashes. */
  readonly attributes: Attributes | null
  /** Looks at the count; undefined when the limit cannot be known. */
  readonly check: Check | undefined
}

/** A domain of descriptors as operators see it. */
export interface CountedDomain {
  readonly name: string
  readonly places: readonly DescriptorPlace[]
  /** What a key of a place counts; undefined for a key that no rule of the files has any more. */
  countOf(place: DescriptorPlace, key: string | undefined): DescriptorCount | undefined
  /** The checks of one descriptor, whose entries are the attributes in their order. */
  match(attributes: Attributes, cost: number): DecisionRequest
}

/** The domains in force. */
export interface CountedDomains {
  list(): readonly CountedDomain[]
}
