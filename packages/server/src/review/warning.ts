// What is allowed but probably not meant.
import type { Step } from '../config/problem.ts'

/** The traps that are looked for, each with its heading in `docs/reference/service/config.md`. */
export type WarningCode =
  | 'never-applies'
  | 'never-chosen'
  | 'raw-path'
  | 'unset-attribute'
  | 'method-case'
  | 'undeclared-route'
  | 'address-prefix'
  | 'stray-space'
  | 'plain-api-key'
  | 'literal-pattern'
  | 'unquoted-number'
  | 'unread-variable'
  | 'own-attribute'
  | 'escapable-key'
  | 'value-case'
  | 'no-effect'
  | 'separate-pools'
  | 'whole-share'
  | 'part-below-one'
  | 'fixed-zone'
  | 'trust-too-wide'
  | 'fixed-cost'
  | 'bare-duration'
  | 'same-key'
  | 'login-window'
  | 'untrusted-address'
  | 'open-listener'
  | 'plain-admin'
  | 'exposed-key'
  | 'old-certificate'

/** One trap, with the way to it in the file. */
export interface Trap {
  readonly code: WarningCode
  /** Whether it is about the environment, and has no place in the file. */
  readonly isOfEnvironment?: boolean
  readonly steps: readonly Step[]
  /** A sentence that names the rule, what happens, and what to write instead. */
  readonly message: string
}
