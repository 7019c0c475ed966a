// `sluice top`: shows what a running service decides, once a second, until Ctrl+C.
import { readFileSync } from 'node:fs'
import type { Millis } from 'sluice'
import { durationFlag } from '../terminal/duration-flag.ts'
import { Unreachable, readOffenders, readService, Refused, type Offender } from './admin.ts'
import type { Reading } from './reading.ts'
import { render, type Screen } from './render.ts'
import { Terminal } from './terminal.ts'
import { viewOf, type Operators, type View } from './view.ts'

/** The options of the command. */
export interface TopOptions {
  /** Where the admin API listens. */
  readonly admin: string
  readonly tokenFile?: string
  /** How long the service may take for one answer; 2 s if absent. */
  readonly timeout?: string
  readonly once?: boolean
  readonly json?: boolean
}

const SECOND = 1000
const NO_TOKEN = 'with SLUICE_ADMIN_TOKEN or --token-file this shows who'

/** Runs until Ctrl+C; returns the exit code: 0, or 1 when the service is unreachable at the start. */
export async function top(address: string, options: TopOptions): Promise<number> {
  const url = address.replace(/\/+$/, '')
  if (!URL.canParse(url))
    return printError(`${address} is not a URL; accepted: http://127.0.0.1:8080`)
  let askOffenders: () => Promise<Operators>
  let before: Reading
  let timeout: Millis
  try {
    timeout = durationFlag('--timeout', options.timeout ?? '2s', '500ms, 2s or 1min')
    askOffenders = offenderReader(options.admin.replace(/\/+$/, ''), tokenFor(options), timeout)
    before = await readService(url, timeout)
  } catch (error) {
    return printError((error as Error).message)
  }
  const terminal = new Terminal(options.once === true || options.json === true)
  const last: { view?: View } = {}
  terminal.onResize = () => last.view && terminal.draw(shown(last.view, terminal))
  try {
    while (await terminal.pause(SECOND)) {
      const view = await readView()
      last.view = view
      if (options.json === true) terminal.print(JSON.stringify(view))
      else terminal.draw(shown(view, terminal))
      if (options.once === true) return view.status === 'unreachable' ? 1 : 0
    }
    return 0
  } finally {
    terminal.close()
  }

  async function readView(): Promise<View> {
    try {
      const [now, operators] = await Promise.all([readService(url, timeout), askOffenders()])
      const view = viewOf(url, before, now, operators)
      before = now
      return view
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      return { ...unreachableView(url, before), offendersProblem: error.message }
    }
  }
}

function shown(view: View, { screen }: { readonly screen: Screen }): readonly string[] {
  return render(view, screen)
}

/** The view of a service that has become unreachable. */
function unreachableView(url: string, before: Reading): View {
  const none = { offenders: [], problem: null }
  return { ...viewOf(url, before, before, none), status: 'unreachable' }
}

/** Makes the function that reads the offenders. A refused token is not sent again, because failed attempts are limited. */
function offenderReader(
  url: string,
  token: string | undefined,
  timeout: Millis,
): () => Promise<Operators> {
  let problem: string | null = token === undefined ? NO_TOKEN : null
  return async () => {
    let offenders: readonly Offender[] = []
    if (problem !== null || token === undefined) return { offenders, problem }
    try {
      offenders = await readOffenders(url, token, timeout)
      return { offenders, problem: null }
    } catch (error) {
      const { message } = error as Error
      if (error instanceof Refused) problem = message
      return { offenders, problem: message }
    }
  }
}

/** The token in the first line of the file that has one, or in the environment. */
function tokenFor({ tokenFile }: TopOptions): string | undefined {
  if (tokenFile === undefined) return process.env['SLUICE_ADMIN_TOKEN'] || undefined
  const lines = readFileSync(tokenFile, 'utf8').split('\n')
  const line = lines.map((one) => one.trim()).find((one) => one !== '' && !one.startsWith('#'))
  if (line === undefined) throw new Unreachable(`${tokenFile} contains no token`)
  return line.split(/\s+/).at(-1)
}

function printError(message: string): number {
  process.stderr.write(`error: ${message}\n`)
  return 1
}
