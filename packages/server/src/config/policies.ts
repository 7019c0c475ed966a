// Reads the policies of a file by the library's own parser, and gives its error messages their places in the file.
import { parsePolicy, SluiceError, type Policy } from 'sluice'
import { pathText, shown, stepsOf, type Step } from './problem.ts'

/** A mistake, with the way to it. */
export interface PolicyProblem {
  readonly steps: readonly Step[]
  readonly message: string
  /** Whether the place is that of the name, not of the value. */
  readonly unknownField: boolean
}

/** Every policy, or every mistake in any of them. */
export function readPolicies(
  values: readonly unknown[],
): { policies: readonly Policy[] } | { problems: readonly PolicyProblem[] } {
  const policies: Policy[] = []
  const problems: PolicyProblem[] = []
  const places = new Map<string, number>()
  for (const [i, value] of values.entries()) {
    try {
      const policy = parsePolicy(value)
      const earlier = places.get(policy.name)
      if (earlier !== undefined) problems.push(repeated(i, policy.name, earlier))
      places.set(policy.name, earlier ?? i)
      policies.push(policy)
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      for (const problem of error.problems) problems.push(placed(i, problem))
    }
  }
  return problems.length > 0 ? { problems } : { policies }
}

function repeated(i: number, name: string, earlier: number): PolicyProblem {
  const steps = ['policies', i, 'name']
  const message = `${pathText(steps)} is ${shown(name)}, the name of policies[${earlier}]; accepted: a name of its own`
  return { steps, message, unknownField: false }
}

/** The library's paths and messages begin inside the policy; this places them in the file. */
function placed(i: number, { path, message }: SluiceError['problems'][number]): PolicyProblem {
  const says = message.slice((path === '' ? 'policy' : path).length)
  const whole = `policies[${i}]${path === '' || path.startsWith('[') ? '' : '.'}${path}`
  return {
    steps: ['policies', i, ...stepsOf(path)],
    message: `${whole}${says}`,
    unknownField: says.startsWith(' is not a known field'),
  }
}
