import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { reviewFile } from '@sluice/server'
import { QUESTIONS } from '../advice/answers.ts'
import { adviseCommand, type AdviseFlags } from './advise.ts'
import { replayLogs } from './replay.ts'
import { fileWith, folder } from '../../test/test-folder.ts'
import { lineOf, START, streamsWith, type TestStreams } from '../../test/test-log.ts'

const combinations = Object.values(QUESTIONS).reduce<Record<string, string>[]>(
  (all, { name, answers }) =>
    all.flatMap((flags) => Object.keys(answers).map((answer) => ({ ...flags, [name]: answer }))),
  [{}],
)

/** 200 clients; the i-th makes i requests within one minute. */
const log = Array.from({ length: 200 }, (_, i) =>
  Array.from({ length: i + 1 }, () => lineOf(START + i * 60_000, `192.0.2.${i}`)).join('\n'),
).join('\n')

describe('the file', () => {
  it.each(['ip', 'user', 'apiKey'])(
    'passes sluice check without a mistake, whatever is answered: by %s',
    async (by) => {
      expect(combinations).toHaveLength(48)
      for (const flags of combinations) {
        const out = join(folder(), 'sluice.yaml')
        expect(await adviseCommand([], { ...flags, by, out }, streamsWith())).toBe(0)
        const { problems, config } = await reviewFile(out, {})
        expect(problems).toEqual([])
        expect(config!.policies[0]!.rules[0]!.by).toEqual([by])
      }
    },
  )

  it('counts only, when the numbers are a guess', async () => {
    const out = join(folder(), 'sluice.yaml')
    const streams = streamsWith()
    await adviseCommand([], { out }, streams)
    expect(readFileSync(out, 'utf8')).toContain('shadow: true')
    expect(streams.out()).toContain('there is no log, so this is a guess for people')
    expect(streams.out()).toContain('Assumed, as nothing else was said: --avoid refusals')
  })

  it('is not replaced unless that is asked for', async () => {
    const out = fileWith('mine')
    await expect(adviseCommand([], { out }, streamsWith())).rejects.toThrow(
      'exists; accepted: --force',
    )
    expect(readFileSync(out, 'utf8')).toBe('mine')
    await adviseCommand([], { out, force: true }, streamsWith())
    expect(readFileSync(out, 'utf8')).toContain('policies:')
  })

  it('may be standard output', async () => {
    const streams = streamsWith()
    await adviseCommand([], { out: '-' }, streams)
    expect(streams.out()).toMatch(/^# Written by sluice advise\.\n/)
  })
})

describe('the limit from a log', () => {
  const advise = async (
    flags: AdviseFlags,
  ): Promise<{ traffic: { quota: number; touched: number }; advice: { quota: number } }> => {
    const streams = streamsWith()
    const out = join(folder(), 'sluice.yaml')
    await adviseCommand([fileWith(log, 'access.log')], { out, json: true, ...flags }, streams)
    return JSON.parse(streams.out()) as Awaited<ReturnType<typeof advise>>
  }

  it.each(['1%', '5%', '25%'])(
    'is the smallest that touches fewer than %s of clients',
    async (touch) => {
      const { traffic } = await advise({ touch, avoid: 'overload' })
      const tried = [traffic.quota, traffic.quota - 1].map((quota) => `${quota}/min`).join(',')
      const { candidates } = await replayLogs([], { try: tried }, streamsWith(log))
      const share = Number.parseFloat(touch) / 100
      expect(candidates[0]!.clientShare).toBeLessThan(share)
      expect(candidates[1]!.clientShare).toBeGreaterThanOrEqual(share)
      expect(candidates[0]!.clientShare).toBe(traffic.touched)
    },
  )

  it('has room for growth where good traffic must not be refused', async () => {
    const [tight, roomy] = [
      await advise({ avoid: 'overload' }),
      await advise({ avoid: 'refusals' }),
    ]
    expect(roomy.advice.quota).toBeGreaterThan(tight.advice.quota * 1.4)
  })

  it('is not in shadow', async () => {
    const streams = streamsWith()
    await adviseCommand([fileWith(log, 'access.log')], { out: '-' }, streams)
    expect(streams.out()).not.toContain('shadow')
    expect(streams.out()).toContain('is the smallest limit that touches fewer than 1.0% of clients')
  })
})

describe('on a terminal', () => {
  const typing = (...lines: string[]): TestStreams =>
    streamsWith(Object.assign(Readable.from(lines.map((line) => `${line}\n`)), { isTTY: true }))

  it('each question without a flag is asked, until the answer is one', async () => {
    const streams = typing('1', 'jobs', 'maybe', 'n', 'fleet')
    await adviseCommand([], { out: '-', violation: 'much', json: true }, streams)
    const { answers, assumed } = JSON.parse(streams.out()) as { answers: object; assumed: string[] }
    expect(answers).toEqual({
      avoid: 'overload',
      callers: 'jobs',
      exact: 'no',
      processes: 'fleet',
      violation: 'much',
    })
    expect(assumed).toEqual([])
    expect(streams.err()).toContain('What must not happen?\n  1  overload: too much is let through')
    expect(streams.err()).toContain('Accepted: yes, no, or a number.')
  })

  it('the short form asks two questions', async () => {
    const streams = typing('', '2')
    await adviseCommand([], { out: '-' }, streams, ['callers', 'processes'])
    expect(streams.out()).toContain('store: redis://')
    expect(streams.err().match(/\?/g)).toHaveLength(2)
  })

  it('an end without answers is a clear error, and nothing is written', async () => {
    const out = join(folder(), 'sluice.yaml')
    await expect(adviseCommand([], { out }, typing('1'))).rejects.toThrow(
      'the questions were not answered',
    )
    expect(existsSync(out)).toBe(false)
  })
})

it.each<[AdviseFlags, string]>([
  [{ callers: 'cats' }, '--callers is cats; accepted: people, sdks, jobs'],
  [{ window: 'soon' }, '--window is soon; accepted: a duration'],
])('%j is a clear error', async (flags, message) => {
  await expect(adviseCommand([], { out: '-', ...flags }, streamsWith())).rejects.toThrow(message)
})

it('a share that is none is a clear error', async () => {
  const file = fileWith(log, 'access.log')
  await expect(adviseCommand([file], { out: '-', touch: '7' }, streamsWith())).rejects.toThrow(
    '--touch is 7',
  )
})
