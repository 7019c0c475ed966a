// What the service sends, as far as the pages read it.

/** The attributes that make a key. */
export type Attributes = Readonly<Record<string, string>>

/** Who has signed in. */
export interface Session {
  readonly name: string | null
  readonly role?: 'read' | 'operate'
  readonly end?: number
  /** Whether there was a session before that has ended. */
  readonly hasEnded?: boolean
}

export interface RuleName {
  readonly policy: string
  readonly rule: string
}

/** The rule's place in the list of names, then what happened in one second. */
type RuleCounts = readonly [
  rule: number,
  allowed: number,
  refused: number,
  unavailable: number,
  shadow: number,
]

/** One second of the service. */
export interface Tick {
  readonly t: number
  readonly rules: readonly RuleCounts[]
  readonly blocked: number
  readonly degraded: number
  readonly p50: number | null
  readonly p99: number | null
  readonly store: readonly [p50: number | null, p99: number | null]
  readonly levels: readonly number[]
  readonly breaker: 'closed' | 'half-open' | 'open'
  readonly keys: number | null
  readonly generation: number
  readonly valid: boolean
  readonly out: Readonly<Record<string, number>>
}

export interface Offender extends RuleName {
  readonly attributes: Attributes
  readonly refused: number
  readonly error: number
  /** Refusals in steps of ten seconds, the newest last. */
  readonly lately: readonly number[]
}

/** What `/readyz` shows of the service. */
export interface Detail {
  readonly generation?: number
  readonly reloadProblems?: readonly string[]
  readonly degraded?: boolean
  readonly workers?: { readonly wanted: number; readonly ready: number }
}

export interface Limit {
  readonly algorithm: string
  readonly quota: number
  readonly window: number
  readonly burst: number
  readonly slots?: boolean
}

export interface Outcome {
  readonly rule: string
  readonly allowed: boolean
  readonly remaining: number
  readonly retryAfter: number | null
  readonly resetAfter: number
  readonly limit: Limit
  readonly shadow?: boolean
  readonly source?: string
}

interface Decision {
  readonly allowed: boolean
  readonly rule: string | null
  readonly remaining: number
  readonly retryAfter: number | null
  readonly outcomes: readonly Outcome[]
  readonly skipped: readonly { readonly rule: string; readonly reason?: string }[]
}

export interface Block {
  readonly policy: string | null
  readonly attributes: Attributes
  readonly since: string
  readonly until: string
  readonly note: string
  readonly by: string
}

export interface Override {
  readonly policy: string
  readonly rule: string
  readonly when: Readonly<Record<string, unknown>>
  readonly limit: unknown
  readonly since: string
  readonly until: string | null
  readonly note: string
  readonly by: string
  readonly idle: string | null
}

/** A rule that applies only to requests with other attributes than those of the key, such as a route. */
export interface ConditionalRule {
  readonly rule: string
  /** The other attributes, each with the values that fit; [] is any value. */
  readonly needs: Readonly<Record<string, readonly string[]>>
  readonly attributes: Attributes
  readonly allowed: boolean | null
  readonly outcome: Outcome | null
}

export interface KeyReading {
  readonly policy: string
  readonly decision: Decision
  readonly conditional: readonly ConditionalRule[]
  readonly explained: readonly string[]
  readonly block: Block | null
}

export interface FoundKey extends RuleName {
  readonly key: string
  readonly attributes: Attributes | null
  readonly limit: Limit
  readonly remaining?: number
  readonly allowed?: boolean
  readonly retryAfter?: number | null
}

export interface ServiceState {
  readonly version: string
  readonly status: string
  readonly generation: number
  readonly store: Readonly<Record<string, unknown>> & { readonly kind: string }
  readonly degraded: boolean
  readonly policies: readonly {
    readonly name: string
    readonly rules: readonly string[]
    readonly breaker: string | null
  }[]
  readonly blocks: number
  readonly overrides: number
}

export interface PolicyView extends Detail {
  readonly version: string
  readonly policies: readonly PolicyData[]
  readonly words: readonly string[]
  readonly file: { readonly name: string; readonly text: string | null } | null
  readonly recent: number
  readonly reloads: readonly Reload[]
}

/** A change of the policies while the service ran. */
export interface Reload {
  readonly at: number
  readonly generation: number
  readonly changes: readonly string[]
}

interface PolicyData {
  readonly name: string
  readonly rules: readonly RuleData[]
}

export interface RuleData {
  readonly name: string
  readonly by: readonly string[]
  readonly when?: Readonly<Record<string, unknown>>
  readonly limit: unknown
  readonly shadow?: boolean
  readonly candidate?: unknown
}

export interface Trial {
  readonly problems: readonly {
    readonly line: number | null
    readonly column: number | null
    readonly message: string
  }[]
  /** What differs from the policies in force. */
  readonly changes: readonly string[]
  readonly result: {
    readonly requests: number
    readonly span: number
    readonly refusedBefore: number
    readonly refusedAfter: number
    readonly newlyRefused: number
    readonly newlyAllowed: number
    readonly keys: readonly (RuleName & {
      readonly attributes: Attributes
      readonly newlyRefused: number
    })[]
  } | null
}

export interface AuditEntry {
  readonly at: string
  readonly who: string
  readonly address: string
  readonly operation: string
  readonly target: unknown
  readonly result: 'done' | 'refused' | 'failed'
  readonly why: string | null
}

/** Limits on trial and shadow rules. */
export interface Candidates {
  readonly candidates: readonly {
    readonly policy: string
    readonly rule: string
    readonly kind: 'candidate' | 'shadow'
    readonly sentence: string
    readonly bothAllow: number
    readonly bothRefuse: number
    readonly newlyRefused: number
    readonly newlyAllowed: number
    readonly aboveLine: boolean
    readonly top: readonly { readonly attributes: Attributes; readonly count: number }[]
  }[]
}

/** What `sluice promote` would change in the file. */
export interface Promotion {
  readonly diff: string | null
  readonly why?: string
  readonly change?: string
}

/** Why a key was refused. */
export interface WhyAnswer {
  readonly sentences: readonly string[]
  readonly complete: boolean
  readonly refusals: readonly {
    readonly id: string
    readonly rule: string
    readonly count: number
    readonly first: string
    readonly last: string
    readonly mode: string
    readonly filledBy: readonly {
      readonly attributes: Attributes
      readonly units: number
      readonly error: number
    }[]
  }[]
}
