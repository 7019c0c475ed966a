// `sluice check`: reviews a file and prints what it means, for people or as JSON.
import { styleText } from 'node:util'
import {
  describeDomain,
  describePolicy,
  problemText,
  reviewFile,
  type ListenerConfig,
  type Review,
  type TlsConfig,
} from '@sluice/server'

/** The options of the command. */
export interface CheckOptions {
  readonly json?: boolean
  readonly strict?: boolean
}

/** Reviews the file; returns the exit code: 0 valid, 1 mistakes, 2 unreadable. */
export async function check(
  file: string,
  { json = false, strict = false }: CheckOptions,
): Promise<number> {
  const review = await reviewFile(file, process.env)
  const { config, domain, problems, warnings } = review
  const unreadable = problems.some(({ message }) => message.startsWith('cannot be read'))
  const code = unreadable ? 2 : problems.length > 0 || (strict && warnings.length > 0) ? 1 : 0
  if (json) {
    const { policies } = config ?? {}
    const said = { ok: code === 0, file, problems, warnings, policies, domain }
    print(JSON.stringify(said, undefined, 2))
  } else if (problems.length > 0) {
    for (const problem of problems) complain('red', 'error', problemText(problem))
    complain('red', 'error', countOf(problems.length, 'mistake'))
  } else {
    if (config !== undefined) for (const line of meaningOf(config)) print(line)
    if (domain !== undefined) {
      for (const line of [...describeDomain(domain), '']) print(line)
      print("It is a file of Envoy's rate limit service: serve it by envoy: { files: [...] } in a")
      print('configuration, or by RUNTIME_ROOT, as the original does.\n')
    }
    for (const warning of warnings)
      complain('yellow', 'warning', `${problemText(warning)} [${warning.code}]`)
    for (const help of new Set(warnings.map((warning) => warning.help))) print(`See ${help}`)
    print(`${file} is valid, with ${countOf(warnings.length, 'warning')}.`)
  }
  return code
}

function meaningOf({ policies, store, listeners, envoy }: NonNullable<Review['config']>): string[] {
  return [
    ...policies.flatMap((policy) => [...describePolicy(policy), '']),
    ...(envoy?.files ?? []).map((path) => `envoy    the descriptors in ${path}`),
    `counts   ${store.kind === 'memory' ? 'in the memory of the process' : 'in Redis'}`,
    ...Object.entries(listeners).map(([name, listener]) => {
      const { host, port, tls } = listener as ListenerConfig
      return `${name.padEnd(8)} ${host}:${port}${tls === undefined ? '' : `, ${tlsText(tls)}`}`
    }),
    '',
  ]
}

function tlsText({ ca, clients = 'required' }: TlsConfig): string {
  return ca === undefined ? 'over TLS' : `over TLS, certificates of clients ${clients}`
}

function countOf(count: number, what: string): string {
  return `${count === 0 ? 'no' : count} ${what}${count === 1 ? '' : 's'}`
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function complain(colour: 'red' | 'yellow', kind: string, line: string): void {
  const word = process.stderr.isTTY ? styleText(colour, kind) : kind
  process.stderr.write(`${word}: ${line}\n`)
}
