// The tokens of a response, whatever its pieces are.
import { describe, expect, it } from 'vitest'
import { UsageMeter } from './usage-meter.ts'

const OPENAI = {
  id: 'x',
  choices: [{ message: { content: 'say "usage": {"completion_tokens": 9} \\ and {' } }],
  usage: {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 64 },
  },
}
const ANTHROPIC = {
  type: 'message',
  content: [{ type: 'tool_use', input: { usage: { input_tokens: 1, output_tokens: 1 } } }],
  usage: {
    input_tokens: 30,
    cache_creation_input_tokens: 5,
    cache_read_input_tokens: 200,
    output_tokens: 7,
  },
}
const events = (...data: unknown[]): string =>
  data.map((one) => `event: x\r\ndata: ${JSON.stringify(one)}\r\n\r\n`).join('')
const OPENAI_STREAM = `${events(
  { choices: [{ delta: { content: 'a' } }], usage: null },
  { choices: [], usage: OPENAI.usage },
)}data: [DONE]\n\n`
const ANTHROPIC_STREAM = events(
  { type: 'message_start', message: { usage: { input_tokens: 25, output_tokens: 1 } } },
  { type: 'content_block_delta', delta: { text: '"usage":{"output_tokens":999}' } },
  { type: 'message_delta', delta: { stop_reason: 'end' }, usage: { output_tokens: 15 } },
)
const RESPONSES_STREAM = events(
  { type: 'response.created', response: { usage: null } },
  {
    type: 'response.completed',
    response: {
      output: [{ usage: { output_tokens: 1 } }],
      usage: {
        input_tokens: 40,
        input_tokens_details: { cached_tokens: 10 },
        output_tokens: 3,
        total_tokens: 43,
      },
    },
  },
)
const JSON_TYPE = 'application/json; charset=utf-8'
const EVENTS = 'text/event-stream'

function usageIn(text: string, type: string, size: number, encoding?: string) {
  const meter = new UsageMeter(type, encoding)
  const bytes = Buffer.from(text)
  for (let i = 0; i < bytes.length; i += size) meter.read(bytes.subarray(i, i + size))
  return meter.usage
}

describe('the usage of a response', () => {
  it.each<[string, string, string, object]>([
    ['OpenAI', JSON.stringify(OPENAI), JSON_TYPE, { input: 36, cached: 64, output: 20 }],
    [
      'OpenAI, indented',
      JSON.stringify(OPENAI, null, 2),
      JSON_TYPE,
      { input: 36, cached: 64, output: 20 },
    ],
    ['Anthropic', JSON.stringify(ANTHROPIC), JSON_TYPE, { input: 35, cached: 200, output: 7 }],
    ['OpenAI stream', OPENAI_STREAM, EVENTS, { input: 36, cached: 64, output: 20 }],
    ['Anthropic stream', ANTHROPIC_STREAM, EVENTS, { input: 25, cached: 0, output: 15 }],
    ['OpenAI responses stream', RESPONSES_STREAM, EVENTS, { input: 30, cached: 10, output: 3 }],
  ])('is read however the bytes are cut: %s', (_, text, type, expected) => {
    for (const size of [1, 2, 7, 64, 100_000])
      expect(usageIn(text, type, size), `pieces of ${size}`).toEqual(expected)
  })

  it.each<[string, string, string, string?]>([
    ['a stream that ended early', ANTHROPIC_STREAM.slice(0, 120), EVENTS],
    ['a stream without usage', events({ choices: [{ delta: { content: 'a' } }] }), EVENTS],
    ['a compressed body', JSON.stringify(OPENAI), JSON_TYPE, 'gzip'],
    ['another type', JSON.stringify(OPENAI), 'text/html'],
    ['no JSON', '{"usage": {"completion_tokens": ', JSON_TYPE],
    ['nonsense', '}}]]{"usage"}{,:"', JSON_TYPE],
    ['negative tokens', '{"usage":{"prompt_tokens":-1,"completion_tokens":-5}}', JSON_TYPE],
    ['fractions', '{"usage":{"completion_tokens":1.5}}', JSON_TYPE],
    ['too many', '{"usage":{"completion_tokens":1e300}}', JSON_TYPE],
    [
      'an endless usage',
      `{"usage":{"a":"${'x'.repeat(10_000)}","completion_tokens":1}}`,
      JSON_TYPE,
    ],
  ])('is unknown: %s', (_, text, type, encoding) => {
    for (const size of [1, 50, 100_000]) expect(usageIn(text, type, size, encoding)).toBeUndefined()
  })
})
