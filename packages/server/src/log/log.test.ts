// Logs hold no secrets, and no text of a stranger can look like more than one value.
import { Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createLog, withoutSecrets } from './log.ts'

/** What one event becomes, as bytes of the log. */
function written(fields: object, message = 'x'): string {
  let text = ''
  const sink = new Writable({
    write(chunk: Buffer, _, done) {
      text += chunk.toString()
      done()
    },
  })
  createLog('info', sink).info(fields, message)
  return text
}

describe('secrets', () => {
  test.each([
    { url: 'redis://ann:hunter2@h:6379/0' },
    { url: 'redis://:hunter2@h' },
    { url: 'rediss://ann:hun@ter2-hunter2@h' },
    { error: 'connect ECONNREFUSED rediss://ann:hunter2@h:6379, retrying' },
    { error: 'seeds redis://a:hunter2@h1,redis://b:hunter2@h2 are gone' },
    { password: 'hunter2' },
    { store: { password: 'hunter2' } },
    { request: { authorization: 'Bearer hunter2' } },
    { token: 'hunter2' },
    { headers: { cookie: 'sid=hunter2' } },
    { headers: { 'x-api-key': 'hunter2' } },
    { error: 'the upstream said: Authorization: Bearer hunter2' },
    { error: 'bad header basic aHVudGVyMg==hunter2' },
    { target: '/v1/keys?policy=api&token=hunter2&x=1' },
    { target: '/login?password=hunter2' },
  ])('%o is without its secret', (fields) => {
    const line = written(fields)
    expect(line).not.toContain('hunter2')
    expect(line).toContain('***')
    JSON.parse(line)
  })

  test('in the message too', () => {
    expect(written({}, 'no redis://u:hunter2@h here')).not.toContain('hunter2')
  })

  test.each([
    'http://127.0.0.1:8080/v1/check',
    'mailto: ann@example.com',
    'listening on [::1]:8080, ready',
    'a basic rule: 5/min',
  ])('%s has none and stays', (text) => {
    expect(withoutSecrets(text)).toBe(text)
  })
})

describe('hostile text', () => {
  test.each([
    ['line breaks', 'a\n{"level":"info","message":"forged"}\r\nb'],
    ['quotes', '","level":"fatal","x":"'],
    ['backslashes', '\\","x":"\\'],
    ['escape sequences of terminals', '\u001b[2J\u001b]0;owned\u0007'],
    ['the same in one character', '\u009b2J\u0090x\u009c'],
    ['delete and null', 'a\u007f\u0000b'],
    ['line separators of Unicode', 'a\u2028b\u2029c\u0085d'],
    ['text that turns round', '\u202egnp.exe\u2066\u2069\u200f\u061c'],
  ])('%s: one line, no control character, and the same text when it is read', (_, text) => {
    for (const line of [written({ text }), written({}, text), written({ [text]: 1 })]) {
      expect(Array.from(line.slice(0, -1)).filter(isActedOn)).toEqual([])
      expect(line.at(-1)).toBe('\n')
      const read = JSON.parse(line) as Record<string, unknown>
      expect([read['text'], read['msg'], ...Object.keys(read)]).toContain(text)
      expect(read['level']).toBe('info')
    }
  })

  test('objects that cannot be written do not end the process', () => {
    const round: Record<string, unknown> = {}
    round['self'] = round
    for (const fields of [round, { big: 1n }, { deep: nested(5000) }])
      expect(written(fields).endsWith('\n')).toBe(true)
  })
})

function nested(depth: number): object {
  let inner: object = {}
  for (let i = 0; i < depth; i++) inner = { inner }
  return inner
}

/** Whether terminals or viewers do something else with a character than to show it. */
function isActedOn(character: string): boolean {
  return /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(character)
}
