// `sluice advise`: asks what matters, measures a log if there is one, and writes a configuration with its reasons.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import type { Millis } from 'sluice'
import { problemText, reviewText } from '@sluice/server'
import { adviceFor, algorithmFor, type Advice, type Traffic } from '../advice/advice.ts'
import {
  answerFor,
  QUESTIONS,
  type Answers,
  type Question,
  type QuestionName,
} from '../advice/answers.ts'
import { yamlOf } from '../advice/yaml.ts'
import { smallestQuota } from '../replay/curve.ts'
import { peaksOf } from '../replay/summary.ts'
import { durationFlag } from '../terminal/duration-flag.ts'
import { Mistake } from '../terminal/mistake.ts'
import { columnsOf, print, type Streams } from '../terminal/streams.ts'
import { wrapped } from '../terminal/words.ts'
import { logOptions, type LogFlags } from './log-flags.ts'
import { addressKey, readLogs } from './replay.ts'
import { append } from '../terminal/long-lists.ts'

/** The flags of the command; every answer is one. */
export interface AdviseFlags extends LogFlags, Partial<Record<QuestionName, string>> {
  readonly by?: string
  readonly window?: string
  readonly touch?: string
  readonly out?: string
  readonly force?: boolean
  readonly json?: boolean
}

/** What the command found. */
interface AdviseResult {
  readonly advice: Advice
  readonly answers: Answers
  /** Questions that were answered by assumption. */
  readonly assumed: readonly QuestionName[]
  readonly traffic: Traffic | null
  readonly yaml: string
}

/** Advises and gives the exit code: 0, 1 for mistakes, 2 when a file cannot be read or written. */
export async function adviseCommand(
  logs: readonly string[],
  flags: AdviseFlags,
  streams: Streams,
  asked: readonly QuestionName[] = Object.keys(QUESTIONS) as QuestionName[],
): Promise<number> {
  const { out = 'sluice.yaml' } = flags
  if (out !== '-' && flags.force !== true && existsSync(out))
    throw new Mistake(`${out} exists; accepted: --force to replace it, or --out with another name`)
  const given = flagAnswers(flags)
  const open = asked.filter((name) => given[name] === undefined)
  const isInteractive = streams.stdin.isTTY === true && !logs.includes('-')
  const answered = isInteractive ? await ask(open, streams) : {}
  const answers = { ...assumedAnswers(), ...answered, ...given } as Answers
  const assumed = (Object.keys(QUESTIONS) as QuestionName[]).filter(
    (name) => given[name] === undefined && answered[name] === undefined,
  )
  const window = durationFlag('--window', flags.window ?? '1min', '10s, 1min or 1h')
  const by = flags.by ?? 'ip'
  const traffic =
    logs.length === 0 ? undefined : await measure(logs, flags, { answers, by, window }, streams)
  const advice = adviceFor(answers, by, window, traffic)
  const yaml = yamlOf(advice)
  const { problems } = reviewText(yaml, out)
  if (problems.length > 0) throw new Mistake(problems.map(problemText).join('\n'))
  if (out !== '-') await writeFile(out, yaml)
  const result = { advice, answers, assumed, traffic: traffic ?? null, yaml }
  if (flags.json === true) print(streams.stdout, JSON.stringify(result, undefined, 2))
  else if (out === '-') streams.stdout.write(yaml)
  else
    for (const line of adviceLines(result, out, columnsOf(streams.stdout)))
      print(streams.stdout, line)
  return 0
}

function flagAnswers(flags: AdviseFlags): Partial<Record<QuestionName, string>> {
  const given: Partial<Record<QuestionName, string>> = {}
  for (const question of Object.values(QUESTIONS)) {
    const text = flags[question.name]
    if (text === undefined) continue
    if (!Object.hasOwn(question.answers, text))
      throw new Mistake(
        `--${question.name} is ${text}; accepted: ${Object.keys(question.answers).join(', ')}`,
      )
    given[question.name] = text
  }
  return given
}

function assumedAnswers(): Answers {
  return Object.fromEntries(
    Object.values(QUESTIONS).map(({ name, assumed }) => [name, assumed]),
  ) as Answers
}

/** Asks on the terminal until each answer is one. */
async function ask(
  names: readonly QuestionName[],
  { stdin, stderr }: Streams,
): Promise<Partial<Record<QuestionName, string>>> {
  const reader = createInterface({ input: stdin })
  const lines = reader[Symbol.asyncIterator]()
  const answers: Partial<Record<QuestionName, string>> = {}
  try {
    for (const name of names) answers[name] = await promptFor(QUESTIONS[name], lines, stderr)
    return answers
  } finally {
    reader.close()
  }
}

async function promptFor(
  question: Question,
  lines: AsyncIterator<string>,
  stderr: Streams['stderr'],
): Promise<string> {
  print(stderr, question.text)
  for (const [i, [answer, meaning]] of Object.entries(question.answers).entries()) {
    const isDefault = answer === question.assumed ? ' (default)' : ''
    print(stderr, `  ${i + 1}  ${answer}: ${meaning}${isDefault}`)
  }
  for (;;) {
    stderr.write('> ')
    const line = await lines.next()
    if (line.done === true)
      throw new Mistake('the questions were not answered; accepted: answers as flags, see --help')
    const answer = answerFor(question, line.value)
    if (answer !== undefined) return answer
    print(stderr, `Accepted: ${Object.keys(question.answers).join(', ')}, or a number.`)
  }
}

/** Reads the log and finds the smallest limit that touches few enough clients. */
async function measure(
  logs: readonly string[],
  flags: AdviseFlags,
  {
    answers,
    by,
    window,
  }: { readonly answers: Answers; readonly by: string; readonly window: Millis },
  streams: Streams,
): Promise<Traffic> {
  const chosenShare = shareOf(flags.touch ?? '1%')
  const options = {
    ...logOptions(flags),
    by: [by],
    addressKey,
    sample: true,
    windows: [window],
    deciders: () => [],
  }
  const { replay } = await readLogs(logs, options, streams)
  const [peaks] = replay.peaks
  const sampled = replay.sampled()
  if (peaks === undefined || sampled === undefined || replay.requests === 0)
    throw new Mistake('the log has no requests to learn from')
  const { p50, p99, max } = peaksOf(peaks, replay.clients.size)
  const algorithm = algorithmFor(answers, p99)
  const { quota, clientShare } = smallestQuota(sampled, window, algorithm, max, chosenShare)
  return {
    clients: replay.clients.size,
    requests: replay.requests,
    window,
    p50,
    p99,
    max,
    quota,
    touched: clientShare,
    chosenShare,
  }
}

function shareOf(text: string): number {
  const share = /^\d+(\.\d+)?%$/.test(text) ? Number(text.slice(0, -1)) / 100 : Number.NaN
  if (!(share > 0 && share <= 1))
    throw new Mistake(`--touch is ${text}; accepted: a share such as 1% or 0.1%`)
  return share
}

function adviceLines(
  { advice, answers, assumed }: AdviseResult,
  out: string,
  columns: number,
): readonly string[] {
  const lines: string[] = []
  for (const { part, value, reason, tradeOff } of advice.choices) {
    lines.push(`${part}: ${value}`)
    for (const text of [`because ${reason};`, `accepted: ${tradeOff}.`])
      append(
        lines,
        wrapped(text, columns - 2).map((line) => `  ${line}`),
      )
  }
  if (assumed.length > 0) {
    const list = assumed.map((name) => `--${name} ${answers[name]}`).join(', ')
    append(lines, ['', ...wrapped(`Assumed, as nothing else was said: ${list}.`, columns)])
  }
  const next = advice.shadow
    ? 'It only counts at first.'
    : 'Try it with sluice replay --policy before you serve it.'
  return [...lines, '', `${out} is written; sluice check ${out} explains it. ${next}`]
}
