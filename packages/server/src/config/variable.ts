// What a variable of the environment is, and what it changes.
import type { Config } from './config.ts'

/** Variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** One variable: the field it sets, what it accepts, and what it makes of a configuration. */
export interface Variable {
  readonly name: string
  readonly field: string
  readonly accepted: string
  /** Whether its value must not be shown. */
  readonly isSecret?: boolean
  /** The configuration with the value in it, or undefined when the value is not accepted. */
  readonly apply: <C extends Unread>(config: C, value: string) => C | undefined
}

/** A configuration whose policies may not be read yet. */
export type Unread = Omit<Config, 'policies'>
