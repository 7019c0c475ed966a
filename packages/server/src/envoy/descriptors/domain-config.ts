// Limits by descriptors as plain data, as a file says them or a program writes them.

/** A limit of a descriptor; either unlimited or a number of requests in a unit of time. */
export interface RateLimitConfig {
  /** Shown to the caller, and what `replaces` of others refers to. */
  readonly name?: string
  /** `second`, `minute`, `hour`, `day`, `week`, `month` or `year`; absent when unlimited. */
  readonly unit?: string
  /** 0 refuses everything. */
  readonly requestsPerUnit?: number
  readonly unlimited?: boolean
  /** Names of limits that are left out of a request to which this one applies. */
  readonly replaces?: readonly string[]
}

/** One step of a descriptor: a key, perhaps a value, and what follows from it. */
export interface DescriptorConfig {
  readonly key: string
  /** Absent: any value, each with its own count. With a `*` at the end: any value that begins so. */
  readonly value?: string
  readonly rateLimit?: RateLimitConfig
  readonly descriptors?: readonly DescriptorConfig[]
  /** Counted, never enforced. */
  readonly shadowMode?: boolean
  /** Counted, never enforced; the response's metadata names the descriptors over their quota. */
  readonly quotaMode?: boolean
  /** All values that a `*` matches have one count together. */
  readonly shareThreshold?: boolean
}

/** A set of limits that proxies ask for by name. */
export interface DomainConfig {
  readonly domain: string
  readonly descriptors: readonly DescriptorConfig[]
}
