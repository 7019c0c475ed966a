// Runs a parser over inputs that are nearly right, and collects the errors that are not its own.
import { lengthOf } from '../length.ts'
import { mutations } from './mutations.ts'

/** A parser: valid inputs, what it does with one, and the kinds of error that are its own. */
export type FuzzedParser = readonly [
  valid: readonly (string | Buffer)[],
  parse: (input: Buffer) => unknown,
  errors?: readonly (abstract new (...args: never[]) => Error)[],
]

const INPUTS = lengthOf(1000, 200_000)

/** The first inputs that made it throw anything else, and how many it answered. */
export function parserErrors([valid, parse, errors = []]: FuzzedParser): {
  readonly wrong: readonly string[]
  readonly answered: number
} {
  const next = mutations(13, valid)
  const wrong: string[] = []
  let answered = 0
  for (let i = 0; i < INPUTS && wrong.length < 3; i++) {
    const input = next()
    try {
      parse(input)
      answered += 1
    } catch (error) {
      const isOwn = errors.some((kind) => error instanceof kind)
      if (!isOwn) wrong.push(`${JSON.stringify(input.toString('latin1'))}: ${String(error)}`)
    }
  }
  return { wrong, answered }
}
