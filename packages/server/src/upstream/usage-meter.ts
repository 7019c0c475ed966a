// What a response of an LLM API says of its tokens: OpenAI and Anthropic, as one JSON body or as a stream of events.
import type { Usage } from 'sluice/budgets'
import { JsonUsage } from './json-usage.ts'

const NEWLINE = 10
const RETURN = 13
const DATA = Buffer.from('data:')

/** Reads a response while it is forwarded. Keeps no more of it than `usage` itself. */
export class UsageMeter {
  /** Whether the response is one whose tokens can be read: JSON or events, not compressed. */
  readonly isReadable: boolean
  private readonly isStream: boolean
  private readonly json: JsonUsage
  /** The numbers of every `usage` so far; a later one overrides an earlier one. */
  private readonly numbers = new Map<string, number>()
  private isComplete = false
  /** Place in the line: how much of `data:` has matched; -1 in a line that is no data, 5 in the data. */
  private matched = 0
  private isBlank = true

  constructor(contentType: string | undefined, encoding: string | undefined) {
    const type = contentType?.split(';', 1)[0]!.trim().toLowerCase()
    this.isStream = type === 'text/event-stream'
    const isPlain = encoding === undefined || encoding.trim().toLowerCase() === 'identity'
    this.isReadable = isPlain && (this.isStream || type === 'application/json')
    this.json = new JsonUsage((usage, holder) => {
      this.note(usage)
      // Anthropic's message_start holds the input tokens, and only the first output token.
      if (holder !== 'message') this.isComplete = true
    })
  }

  read(bytes: Uint8Array): void {
    if (!this.isReadable) return
    if (this.isStream) this.readEvents(bytes)
    else this.json.read(bytes)
  }

  /** The tokens by kind; undefined as long as the response has not said what was generated in all. */
  get usage(): Usage | undefined {
    const of = (name: string): number | undefined => this.numbers.get(name)
    const output = of('completion_tokens') ?? of('output_tokens')
    if (!this.isComplete || output === undefined) return undefined
    const input = of('prompt_tokens') ?? of('input_tokens') ?? 0
    // OpenAI counts cached tokens among the input, Anthropic beside it.
    const among =
      of('prompt_tokens_details.cached_tokens') ?? of('input_tokens_details.cached_tokens')
    if (among !== undefined) return { input: Math.max(0, input - among), cached: among, output }
    const cached = of('cache_read_input_tokens') ?? 0
    return { input: input + (of('cache_creation_input_tokens') ?? 0), cached, output }
  }

  private note(usage: Readonly<Record<string, unknown>>, under = ''): void {
    for (const [name, value] of Object.entries(usage)) {
      if (Number.isSafeInteger(value) && (value as number) >= 0)
        this.numbers.set(under + name, value as number)
      else if (under === '' && typeof value === 'object' && value !== null)
        this.note(value as Readonly<Record<string, unknown>>, `${name}.`)
    }
  }

  /** The data of one event is one JSON text; an empty line ends the event. */
  private readEvents(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]!
      if (byte === NEWLINE || byte === RETURN) {
        if (byte === NEWLINE && this.isBlank) this.json.reset()
        if (byte === NEWLINE) this.isBlank = true
        this.matched = 0
        continue
      }
      this.isBlank = false
      if (this.matched === DATA.length) {
        const end = endOfLine(bytes, i)
        this.json.read(bytes, i, end)
        i = end - 1
      } else if (this.matched >= 0)
        this.matched = byte === DATA[this.matched] ? this.matched + 1 : -1
    }
  }
}

function endOfLine(bytes: Uint8Array, from: number): number {
  const end = bytes.indexOf(NEWLINE, from)
  return end < 0 ? bytes.length : end
}
