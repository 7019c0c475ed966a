// The verbs of operators against a running service.
import { Command } from 'commander'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { execFileSync } from 'node:child_process'
import { createLog, readConfig, startService, type Service } from '@sluice/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addOperatorVerbs } from './add-verbs.ts'
import { completion } from './completion.ts'
import { doctor } from './doctor.ts'
import * as verbs from './verbs.ts'

const TOKEN = 'operator-token-for-tests-0123456789'
const config = {
  policies: [
    {
      name: 'api',
      rules: [
        { name: 'per-user', by: ['user'], limit: '3/h', candidate: '1/h' },
        { name: 'silent', by: ['tenant'], limit: '3/h' },
        {
          name: 'logins',
          by: ['account'],
          limit: '1/h',
          lockout: { after: 2, for: '10min' },
        },
      ],
    },
  ],
  listeners: { http: { port: 0 }, admin: { port: 0, tokenFile: 'tokens' } },
}

let service: Service
let folder: string
let flags: verbs.VerbFlags
let url: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-verbs-'))
  const tokenFile = join(folder, 'tokens')
  writeFileSync(tokenFile, `ops ${TOKEN}\n`, { mode: 0o600 })
  const file = join(folder, 'sluice.json')
  const { config: read } = readConfig(JSON.stringify(config), file, {})
  const source = { file, digest: '', watch: false as const }
  service = await startService({ config: read!, log: createLog('silent'), source })
  const urlOf = (name: string) => service.listeners.find((one) => one.name === name)!.url
  url = urlOf('http')
  flags = { admin: urlOf('admin'), tokenFile }
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

const check = async (user: string) => {
  const body = JSON.stringify({ attributes: { user, route: '/export' } })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/check`, { method: 'POST', headers, body })
  return (await response.json()) as { allowed: boolean; id?: string }
}

async function run(verb: (streams: Parameters<typeof verbs.keys>[1]) => Promise<number>) {
  let text = ''
  const stdout = { write: (part: string) => (text += part) }
  const { signal } = new AbortController()
  const code = await verb({ stdin: new PassThrough(), stdout, stderr: stdout, signal })
  return { code, text }
}

describe('verbs', () => {
  it('show a lockout, and lift it', async () => {
    const login = async () => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ attributes: { account: 'eve' } })
      const response = await fetch(`${url}/v1/check`, { method: 'POST', headers, body })
      return (await response.json()) as { allowed: boolean; reason: string }
    }
    for (let i = 0; i < 3; i++) await login()
    expect(await login()).toMatchObject({ allowed: false, reason: 'locked-out' })
    const asked = await run((streams) => verbs.ask(['account=eve'], flags, streams))
    expect(asked.text).toMatch(/locked out/)
    const lifted = await run((streams) => verbs.reset(['account=eve'], flags, streams))
    expect([lifted.code, lifted.text]).toEqual([0, expect.not.stringMatching(/locked out/)])
    expect(await login()).toMatchObject({ allowed: true })
  })

  it('explain, list, change and undo', async () => {
    let id: string | undefined
    for (let i = 0; i < 5; i++) ({ id } = await check('ann'))
    const explained = await run((streams) => verbs.why(['user=ann'], flags, streams))
    expect(explained.text).toMatch(
      /^Rule per-user \(token bucket 3\/h\).* refused user=ann 2 times/,
    )
    expect(explained.text).toContain(
      'What filled it in the last two windows, as far as it was noted: route=/export took',
    )
    const byId = await run((streams) => verbs.why([id!], { ...flags, json: true }, streams))
    expect(JSON.parse(byId.text).refusals).toMatchObject([{ rule: 'per-user', count: 2 }])
    expect((await run((streams) => verbs.keys(flags, streams))).text).toMatch(
      /^The last one to two minutes, as seen by one process\.\n[^]*api\/per-user: 1 key\n {2}refused {2}user=ann +2/,
    )
    expect((await run((streams) => verbs.keys(flags, streams))).text).toMatch(
      /\n {2}at zero {2}user=ann +for \d+ s\n/,
    )
    const trial = await run((streams) => verbs.shadow(flags, streams))
    expect(trial.text).toContain(
      'Flip now: 40 % of 5 requests and 1 key newly refused, worst: user=ann',
    )

    const granted = await run((streams) => verbs.grant('2', ['user=ann'], flags, streams))
    expect(granted.text).toMatch(/^user=ann got 2 units back, up to full\. Now:\napi: allowed/)
    const misspelled = await run((streams) => verbs.grant('2', ['usr=ann'], flags, streams))
    expect(misspelled.text).toMatch(
      /^No rule counts by usr=ann alone: nothing was handed back\. Now:/,
    )
    const forgotten = await run((streams) => verbs.reset(['usr=ann'], flags, streams))
    expect(forgotten.text).toMatch(/^No rule counts by usr=ann alone: nothing was forgotten\. Now:/)
    expect((await check('ann')).allowed).toBe(true)
    await run((streams) => verbs.reset(['user=ann'], { ...flags, rule: 'per-user' }, streams))
    const asked = await run((streams) => verbs.ask(['user=ann'], flags, streams))
    expect(asked.text).toContain('api: allowed by per-user: token bucket 3/h: 3 of 3 units left')

    const blocked = await run((streams) =>
      verbs.block(['user=eve'], { ...flags, for: '10min', note: 'scrapes' }, streams),
    )
    expect(blocked.text).toMatch(
      /^user=eve is blocked until .*\. To end it: sluice unblock user=eve\n$/,
    )
    expect((await check('eve')).allowed).toBe(false)
    const why = await run((streams) => verbs.why(['user=eve'], flags, streams))
    expect(why.text).toMatch(/^BLOCKED: user=eve is blocked by ops until .* the note "scrapes"/)
    await run((streams) => verbs.unblock(['user=eve'], flags, streams))
    expect((await check('eve')).allowed).toBe(true)
    await expect(run((streams) => verbs.unblock(['user=eve'], flags, streams))).rejects.toThrow(
      'no block has exactly these attributes',
    )

    await run((streams) => verbs.override('per-user', ['0/h', 'user=eve'], flags, streams))
    expect((await check('eve')).allowed).toBe(false)
    const removed = { ...flags, remove: true }
    await run((streams) => verbs.override('per-user', ['user=eve'], removed, streams))
    expect((await check('eve')).allowed).toBe(true)
  })

  it('say how to end a block, and which others hold when it has ended', async () => {
    const inApi = { ...flags, policy: 'api' }
    const ofApi = await run((streams) => verbs.block(['user=u'], inApi, streams))
    expect(ofApi.text).toMatch(
      /^user=u is blocked in policy api until .*Z\. To end it: sluice unblock user=u --policy api\n$/,
    )
    const ofAll = await run((streams) => verbs.block(['user=u'], flags, streams))
    expect(ofAll.text).toMatch(/^user=u is blocked until .*Z\. To end it: sluice unblock user=u\n$/)
    const first = await run((streams) => verbs.unblock(['user=u'], flags, streams))
    expect(first.text).toMatch(
      /^A block of user=u has ended\. These still hold:\n {2}user=u is blocked in policy api until .*Z\. To end it: sluice unblock user=u --policy api\n$/,
    )
    expect((await check('u')).allowed).toBe(false)
    await expect(run((streams) => verbs.unblock(['user=u'], flags, streams))).rejects.toThrow(
      'what holds is: user=u in policy api',
    )
    const last = await run((streams) => verbs.unblock(['user=u'], inApi, streams))
    expect(last.text).toBe('user=u is no longer blocked in policy api.\n')
    expect((await check('u')).allowed).toBe(true)
  })

  it('quote what a shell would split', async () => {
    const { text } = await run((streams) =>
      verbs.block(["user=Ann O'Hara", 'tenant=a'], flags, streams),
    )
    expect(text).toContain(`To end it: sluice unblock 'user=Ann O'\\''Hara' tenant=a\n`)
    await run((streams) => verbs.unblock(["user=Ann O'Hara", 'tenant=a'], flags, streams))
  })

  it.each([
    'a\r\nFAKE: line',
    '\u001b[2J\u001b[31mred',
    'right\u202eto-left',
    '"; drop\\',
    'x'.repeat(4000),
    'x'.repeat(65_536),
  ])('show nothing that a terminal would act on: case %#', async (name) => {
    for (let i = 0; i < 5; i++) await check(name)
    const pair = `user=${name}`
    const texts = [
      await run((streams) => verbs.keys(flags, streams)),
      await run((streams) => verbs.shadow(flags, streams)),
      ...(name.length < 1000
        ? [
            await run((streams) => verbs.why([pair], flags, streams)),
            await run((streams) => verbs.ask([pair], flags, streams)),
          ]
        : []),
    ].map(({ text }) => text)
    for (const text of texts) {
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      expect(text).not.toMatch(/^FAKE/m)
      expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(1200)
    }
  })

  it('say what is wrong', async () => {
    const wrong = run((streams) => verbs.block(['user'], flags, streams))
    await expect(wrong).rejects.toThrow('"user" is no attribute; accepted: user=42')
    const other = { ...flags, admin: 'http://127.0.0.1:1' }
    await expect(run((streams) => verbs.keys(other, streams))).rejects.toThrow('is unreachable')
    const rule = run((streams) => verbs.override('nope', ['1/h', 'user=a'], flags, streams))
    await expect(rule).rejects.toThrow(
      'there is no rule of that name in policy api; accepted: per-user, silent',
    )
    const keys = run((streams) => verbs.keys({ ...flags, rule: 'nope' }, streams))
    await expect(keys).rejects.toThrow(
      'there is no rule of that name; accepted: per-user, silent, logins',
    )
    const keysOf = run((streams) => verbs.keys({ ...flags, policy: 'nope' }, streams))
    await expect(keysOf).rejects.toThrow('there is no policy of that name; accepted: api')
    const id = run((streams) => verbs.why(['nonsense'], flags, streams))
    await expect(id).rejects.toThrow('neither an attribute nor a decision id')
  })
})

describe('the doctor', () => {
  it('finds rules that no request met', async () => {
    await check('ann')
    const { code, text } = await run((streams) => doctor(flags, streams))
    expect(code).toBe(0)
    expect(text).toContain('ok      store: memory is reachable')
    expect(text).toContain('warning rules: no request of the last hour met api/silent')
  })
})

describe('completion', () => {
  const program = new Command('sluice')
  addOperatorVerbs(program)

  it('completes commands and flags in bash', () => {
    const script = completion(program, 'bash')
    const complete = (...words: string[]) =>
      execFileSync('bash', [
        '-c',
        `${script}\nCOMP_WORDS=(sluice ${words.join(' ')}); COMP_CWORD=${words.length}; _sluice; echo "\${COMPREPLY[*]}"`,
      ])
        .toString()
        .trim()
    expect(complete('wh')).toBe('why')
    expect(complete('block', '--n')).toBe('--note')
  })

  it('completes commands and flags in zsh', () => {
    const script = completion(program, 'zsh')
    // What zsh would be told: names as an array, or as words.
    const told = `compadd() { [[ $3 == about ]] && { print -r -- "$names"; print -rl -- $about } || print -r -- "\${@:2}" }`
    const complete = (...words: string[]) =>
      execFileSync('zsh', [
        '-f',
        '-c',
        `compdef() {}; _files() { print files }\n${script}\n${told}\nwords=(sluice ${words.join(' ')}); CURRENT=$(( $#words )); _sluice`,
      ])
        .toString()
        .trim()
    const [names, ...about] = complete('wh').split('\n')
    expect(names!.split(' ')).toEqual(program.commands.map((command) => command.name()))
    expect(about).toEqual(
      program.commands.map((command) => `${command.name()}: ${command.description()}`),
    )
    expect(complete('block', '--n').split(' ')).toContain('--note')
    expect(complete('promote', 'sluice.')).toBe('files')
  })

  it('refuses a shell that it does not know', () => {
    expect(completion(program, 'fish')).toContain('-a why')
    expect(() => completion(program, 'csh')).toThrow('accepted: bash, zsh, fish')
  })
})
