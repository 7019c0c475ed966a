import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createLimiter, limit, memoryStore } from 'sluice'
import { replayCommand, replayLogs, type ReplayFlags } from './replay.ts'
import { ALGORITHMS } from 'sluice'
import type { ReplayResult } from '../replay/result.ts'
import { folder } from '../../test/test-folder.ts'
import { until } from '../../../../test/servers/until.ts'
import { lineOf, START, streamsWith, type TestStreams } from '../../test/test-log.ts'

function resultOf(log: string, flags: ReplayFlags = {}): Promise<ReplayResult> {
  return replayLogs([], { try: '5/min', showKeys: true, ...flags }, streamsWith(log))
}

/** An uneven log: three clients, seconds drawn from a fixed sequence. */
function walk(length: number): { at: number; ip: string }[] {
  let seed = 42
  const random = (): number =>
    (seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff) / 0x80000000
  let at = START
  return Array.from({ length }, () => {
    at += Math.floor(random() ** 6 * 20) * 1000
    return { at, ip: `192.0.2.${Math.floor(random() * 3) + 1}` }
  })
}

describe('decisions', () => {
  it.each(ALGORITHMS)('are those of the library at the recorded times: %s', async (algorithm) => {
    const requests = walk(3000)
    let now = 0
    const limiter = createLimiter({
      limit: limit('7/30s', { algorithm }),
      store: memoryStore({ clock: () => now }),
    })
    const expected = requests.filter(({ at, ip }) => {
      now = at
      return !limiter.check(ip).allowed
    })
    const log = requests.map(({ at, ip }) => lineOf(at, ip)).join('\n')
    const { candidates } = await resultOf(log, { try: '7/30s', algorithm })
    expect(candidates[0]!.refused).toBe(expected.length)
    expect(expected.length).toBeGreaterThan(20)
    for (const { client, refused } of candidates[0]!.victims)
      expect(refused).toBe(expected.filter(({ ip }) => ip === client).length)
  })

  it('do not depend on the order of lines within the window', async () => {
    const requests = walk(500)
    const sorted = await resultOf(requests.map(({ at, ip }) => lineOf(at, ip)).join('\n'))
    const chunks = Array.from({ length: 50 }, (_, i) =>
      requests.slice(i * 10, i * 10 + 10).toReversed(),
    )
    const mixed = await resultOf(
      chunks
        .flat()
        .map(({ at, ip }) => lineOf(at, ip))
        .join('\n'),
    )
    expect(mixed.candidates[0]!.refused).toBe(sorted.candidates[0]!.refused)
    expect(mixed.caveats.map(({ code }) => code)).toContain('unsorted')
  })

  it('are the same over files of several days in any order, plain or compressed', async () => {
    const path = folder()
    const lines = walk(900).map(({ at, ip }) => lineOf(at, ip))
    const whole = await resultOf(lines.join('\n'))
    const names = ['access.log', 'access.log.1', 'access.log.2.gz'].map((name) => join(path, name))
    writeFileSync(names[2]!, gzipSync(lines.slice(0, 300).join('\n')))
    writeFileSync(names[1]!, lines.slice(300, 600).join('\n'))
    writeFileSync(names[0]!, lines.slice(600).join('\n'))
    const split = await replayLogs(names, { try: '5/min', showKeys: true }, streamsWith())
    expect(split.candidates).toEqual(whole.candidates)
    expect(split.input.requests).toBe(900)
  })

  it('count an IPv6 site as one client, as the library does', async () => {
    const log = ['2001:db8:0:1::1', '2001:db8:0:2::2', '2001:db8:1::1'].map((ip, i) =>
      lineOf(START + i * 1000, ip),
    )
    const { clients } = await resultOf(log.join('\n'))
    expect(clients).toBe(2)
  })

  it('by a policy are those of the service, with its routes and tiers', async () => {
    const path = folder()
    const file = join(path, 'sluice.yaml')
    writeFileSync(
      file,
      `policies:
  - name: api
    rules:
      - { name: per-ip, by: [ip], limit: 100/min }
      - { name: login, when: { route: '/login/{who}' }, by: [ip, route], limit: 2/min }
proxy: { routes: ['/login/{who}'] }
`,
    )
    const log = Array.from({ length: 10 }, (_, i) =>
      lineOf(START + i * 1000, '192.0.2.1', { path: i % 2 === 0 ? `/login/${i}` : '/other' }),
    )
    const { candidates } = await replayLogs([], { policy: file }, streamsWith(log.join('\n')))
    expect(candidates[0]).toMatchObject({
      name: 'api',
      limit: null,
      refused: 3,
      rules: [{ rule: 'login', refused: 3 }],
    })
  })
})

describe('the result', () => {
  const burst = Array.from({ length: 20 }, (_, i) => lineOf(START + i * 1000, '192.0.2.1'))
  const calm = Array.from({ length: 20 }, (_, i) => lineOf(START + i * 60_000, `192.0.2.${i + 2}`))
  const log = [...burst, ...calm].join('\n')

  it('has victims with their peaks, and the longest stretch', async () => {
    const { candidates, clients, verdict } = await resultOf(log, { algorithm: 'fixed-window' })
    expect(clients).toBe(21)
    expect(candidates[0]).toMatchObject({
      refused: 15,
      clientsHit: 1,
      victims: [{ client: '192.0.2.1', requests: 20, refused: 15, peak: 20, longest: 14_000 }],
      longest: { client: '192.0.2.1', from: START + 5000, duration: 14_000 },
    })
    expect(verdict).toBe(
      '5/min by fixed window would have refused 15 of 40 requests (37.5%) and touched 1 of 21 clients (4.8%); the most refused, 192.0.2.1, lost 15 of 20.',
    )
  })

  it('has one candidate for each limit and algorithm', async () => {
    const { candidates } = await resultOf(log, {
      try: '5/min,50/min',
      algorithm: 'gcra,sliding-log',
    })
    expect(candidates.map(({ name }) => name)).toEqual([
      '5/min gcra',
      '5/min sliding log',
      '50/min gcra',
      '50/min sliding log',
    ])
  })

  it('has the same numbers in the curve as for a candidate', async () => {
    for (const algorithm of ALGORITHMS) {
      const log = walk(2000).map(({ at, ip }) => lineOf(at, ip))
      const { candidates, curves } = await resultOf(log.join('\n'), {
        try: '7/min',
        algorithm,
        json: true,
      })
      const point = curves[0]!.algorithms[0]!.points.find(({ quota }) => quota === 7)!
      expect(curves[0]!.isExact).toBe(true)
      expect(point.refusedShare).toBeCloseTo(candidates[0]!.refusedShare, 10)
      expect(point.clientShare).toBe(candidates[0]!.clientShare)
      expect(curves[0]!.algorithms[0]!.points.at(-1)!.clientShare).toBe(0)
    }
  })

  it('hides who clients are, unless it shall show them', async () => {
    const hidden = await replayLogs([], { try: '5/min' }, streamsWith(log))
    expect(JSON.stringify(hidden)).not.toContain('192.0.2.1')
    expect(hidden.candidates[0]!.victims[0]!.client).toMatch(/^#[0-9a-f]{10}$/)
    const again = await replayLogs([], { try: '5/min' }, streamsWith(log))
    expect(again.candidates[0]!.victims[0]!.client).not.toBe(
      hidden.candidates[0]!.victims[0]!.client,
    )
  })

  it('is printed with the sentence first', async () => {
    const streams = streamsWith(log)
    expect(await replayCommand([], { try: '5/min,60/min', showKeys: true }, streams)).toBe(0)
    const [first] = streams.out().split('\n')
    expect(first).toMatch(/^60\/min by token bucket is the lowest limit tried/)
    expect(streams.out()).toMatch(/LIMIT +ALGORITHM +refused/)
    expect(streams.out()).toContain('192.0.2.1')
    expect(streams.err()).toBe('')
  })

  it('prefers, of equal limits that touch as many clients, the one that refuses least', async () => {
    const busy = Array.from({ length: 40 }, (_, i) => lineOf(START + i * 2000, '192.0.2.1'))
    const others = Array.from({ length: 150 }, (_, i) => lineOf(START, `198.51.100.${i}`))
    const { verdict, candidates } = await resultOf([...others, ...busy].join('\n'), {
      try: '10/min',
      algorithm: 'all',
    })
    const least = Math.min(...candidates.map(({ refused }) => refused))
    expect(new Set(candidates.map(({ clientsHit }) => clientsHit))).toEqual(new Set([1]))
    expect(Math.max(...candidates.map(({ refused }) => refused))).toBeGreaterThan(least)
    expect(verdict).toContain(`it would have refused ${least} of 190 requests`)
  })

  it('of a log without requests says so', async () => {
    expect((await resultOf('')).verdict).toBe('The log has no requests to decide about.')
  })

  it('leaves out what is outside of --from and --to', async () => {
    const { input } = await resultOf(log, { from: '2026-05-17T08:01', to: '2026-05-17T08:05' })
    expect([input.requests, input.outside]).toEqual([4, 36])
  })
})

describe('lines that cannot be read', () => {
  it('are counted and named, and nothing else changes', async () => {
    const good = walk(300).map(({ at, ip }) => lineOf(at, ip))
    const bad = [
      'garbage',
      good[0]!.slice(0, 40),
      '\u0000\u0001\u0002binary',
      lineOf(START, '192.0.2.1').replace('17/May', '99/May'),
      'x'.repeat(2_000_000),
    ]
    const mixed = good.flatMap((line, i) => (i >= 100 && i < 105 ? [line, bad[i - 100]!] : [line]))
    const [clean, dirty] = await Promise.all([
      resultOf(good.join('\n')),
      resultOf(mixed.join('\n')),
    ])
    expect(dirty.candidates).toEqual(clean.candidates)
    expect(dirty.input.badLines).toEqual([
      { fault: 'not in the format', count: 1, file: 'standard input', line: 102 },
      { fault: 'cut off', count: 1, file: 'standard input', line: 104 },
      { fault: 'binary', count: 1, file: 'standard input', line: 106 },
      { fault: 'time impossible', count: 1, file: 'standard input', line: 108 },
      { fault: 'too long', count: 1, file: 'standard input', line: 110 },
    ])
  })

  it('with a time far from all others do not move time', async () => {
    const lines = walk(300).map(({ at, ip }) => lineOf(at, ip))
    const clean = await resultOf(lines.join('\n'))
    lines.splice(150, 0, lineOf(Date.UTC(2099, 0, 1), '192.0.2.1'))
    const dirty = await resultOf(lines.join('\n'))
    expect(dirty.candidates).toEqual(clean.candidates)
    expect(dirty.caveats.map(({ code }) => code)).toContain('implausible-times')
  })
})

describe('mistakes', () => {
  const log = lineOf(START, '192.0.2.1')
  it.each<[string, ReplayFlags, string, string]>([
    [
      'no limit',
      { try: undefined as never },
      log,
      'there is nothing to try; accepted: --try 10/min,30/min, or --policy sluice.yaml',
    ],
    [
      'a rate that is none',
      { try: 'often' },
      log,
      '--try: limit "often": rate is "often"; accepted',
    ],
    [
      'an unknown algorithm',
      { algorithm: 'magic' },
      log,
      '--algorithm is magic; accepted: all, token-bucket',
    ],
    ['an unknown format', { format: 'iis' }, log, '--format is iis; accepted: combined, common'],
    ['a mapping that is none', { map: ['user'] }, log, '--map is user; accepted: attribute=field'],
    ['a time that is none', { from: 'noon' }, log, '--from is noon; accepted: 2026-05-17'],
    [
      'an attribute that no line has',
      { by: 'user' },
      log,
      'none of the first 1 lines has user; the lines offer ip, method, path, status, userAgent;',
    ],
    [
      'a mapping to nothing',
      { map: ['user=who'] },
      log,
      'has the field who, as --map user=who says; the lines offer ip',
    ],
    [
      'the wrong format',
      { format: 'alb' },
      log,
      'none of the first 1 lines can be read as alb (not in the format); they look like --format combined',
    ],
    [
      'time missing',
      { format: 'ndjson' },
      '{"when":1,"ip":"a"}',
      'the lines offer when, ip; accepted: --map time=<field>',
    ],
    [
      'an unknown log',
      {},
      'hello',
      'the format is not known; the first line is "hello"; accepted: --format combined',
    ],
    ['two sources of limits', { policy: 'x.yaml' }, log, 'both --policy and --try are given'],
    ['no such policy file', { policy: '/no/such', try: undefined as never }, log, 'cannot be read'],
  ])('%s: a clear error', async (_, flags, text, message) => {
    await expect(resultOf(text, flags)).rejects.toThrow(message)
  })
})

describe('caveats', () => {
  const codes = async (lines: string[], flags: ReplayFlags = {}): Promise<string[]> =>
    (await resultOf(lines.join('\n'), flags)).caveats.map(({ code }) => code)

  it.each<[string, string[]]>([
    ['refused-before', [lineOf(START, '192.0.2.1', { status: 429 })]],
    ['whole-seconds', [lineOf(START, '192.0.2.1')]],
    ['stamped-at-end', [lineOf(START, '192.0.2.1')]],
    [
      'shared-address',
      Array.from({ length: 60 }, (_, i) =>
        lineOf(START + i * 1000, '192.0.2.1', { agent: `agent number ${i * 7919} of many` }),
      ),
    ],
    [
      'one-client',
      [
        ...Array.from({ length: 20 }, (_, i) => lineOf(START, `192.0.2.${i}`)),
        ...Array.from({ length: 20 }, () => lineOf(START, '192.0.2.1')),
      ],
    ],
    [
      'late-lines',
      [
        lineOf(START, '192.0.2.1'),
        ...[2, 4, 6].map((h) => lineOf(START + h * 3_600_000, '192.0.2.1')),
        lineOf(START + 5000, '192.0.2.2'),
      ],
    ],
  ])('name %s', async (code, lines) => {
    expect(await codes(lines)).toContain(code)
  })

  it('name a day of attack', async () => {
    const day = (index: number, times: number): string[] =>
      Array.from({ length: times }, (_, i) =>
        lineOf(START + index * 86_400_000 + i * 1000, `192.0.2.${i % 50}`),
      )
    const quiet = [0, 1, 2, 3, 4].flatMap((index) => day(index, 100))
    expect(await codes(quiet)).not.toContain('surge')
    expect(await codes([...quiet, ...day(5, 1000)])).toContain('surge')
  })

  it('are fewer where the log is better', async () => {
    const line = (at: number): string =>
      JSON.stringify({ time: new Date(at).toISOString(), ip: '192.0.2.1' })
    expect(await codes([line(START), line(START + 250)])).not.toContain('whole-seconds')
  })
})

describe('Ctrl+C', () => {
  it('prints what is known so far', async () => {
    async function* endless(): AsyncGenerator<Buffer> {
      for (let i = 0; ; i++) {
        if (i === 300) streams.stop.abort()
        yield Buffer.from(`${lineOf(START + i * 1000, '192.0.2.1')}\n`)
      }
    }
    const streams: TestStreams = streamsWith(Readable.from(endless()))
    expect(await replayCommand([], { try: '5/min' }, streams)).toBe(130)
    expect(streams.out()).toMatch(/^So far, 5\/min by token bucket would have refused/)
    expect(streams.out()).toContain('Stopped before the end.')
  })
})

describe('standard input', () => {
  it('that stays open is left at Ctrl+C', async () => {
    const input = new PassThrough()
    const streams = streamsWith(input)
    const code = replayCommand([], { try: '5/min' }, streams)
    input.write(Array.from({ length: 9 }, () => `${lineOf(START, '192.0.2.1')}\n`).join(''))
    // Until it waits for more.
    await until('the lines are read', 10_000, () => Promise.resolve(input.readableLength === 0))
    streams.stop.abort()
    expect(await code).toBe(130)
    expect(streams.out()).toMatch(/^So far, 5\/min by token bucket would have refused 4 of 9/)
  })

  it.each([
    [true, /^Reading the log from standard input: Ctrl\+D ends it/],
    [false, /^$/],
  ])('at a terminal (%s) is announced', async (isTTY, said) => {
    const stdin = Object.assign(Readable.from([Buffer.from(lineOf(START, '192.0.2.1'))]), { isTTY })
    const streams = streamsWith(stdin)
    await replayCommand([], { try: '5/min' }, streams)
    expect(streams.err()).toMatch(said)
  })
})

describe('--html', () => {
  it('writes a file that holds the numbers of the JSON', async () => {
    const file = join(folder(), 'report.html')
    const log = walk(500)
      .map(({ at, ip }) => lineOf(at, ip))
      .join('\n')
    const streams = streamsWith(log)
    await replayCommand([], { try: '5/min,9/min', json: true, html: file }, streams)
    const html = readFileSync(file, 'utf8')
    const embedded = /<script type="application\/json" id="result">([\s\S]*?)<\/script>/.exec(
      html,
    )![1]!
    expect(JSON.parse(embedded)).toEqual(JSON.parse(streams.out()))
    expect(streams.err()).toBe(`The report is in ${file}.\n`)
  })
})
