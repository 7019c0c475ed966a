// Finds `usage` in a JSON text that comes in pieces, without keeping the text: of everything else only the place is known.

/** The longest `usage` that is read, in bytes. */
const MAX_USAGE = 4096
/** Bytes of a key that are kept: longer ones are no key of interest. */
const MAX_KEY = 32
/** Objects that hold `usage` at the top: Anthropic's `message_start`, and OpenAI's `response.completed`. */
const HOLDERS: readonly string[] = ['message', 'response']

const QUOTE = 34
const BACKSLASH = 92
const OPEN = 123
const CLOSE = 125
const OPEN_LIST = 91
const CLOSE_LIST = 93
const COLON = 58
const COMMA = 44

/** Receives a `usage`, and the name of the object at the top that holds it; '' when it stands at the top itself. */
export type OnUsage = (usage: Readonly<Record<string, unknown>>, holder: string) => void

/** Reads one JSON text after the other. A key inside a string, a list or a deeper object is never taken for `usage`. */
export class JsonUsage {
  private readonly onUsage: OnUsage
  private depth = 0
  /** Lists that are open: nothing in them is looked at. */
  private lists = 0
  private inString = false
  private isEscaped = false
  /** Whether the next string is a key. */
  private expectsKey = false
  /** The key whose value comes next, at depth 1 and 2. */
  private key = ''
  private holder = ''
  /** The bytes of `usage`, while it is read. */
  private captured: number[] | null = null
  private capturedFrom = 0

  constructor(onUsage: OnUsage) {
    this.onUsage = onUsage
  }

  /** Forgets an unfinished text. */
  reset(): void {
    this.depth = this.lists = 0
    this.inString = this.isEscaped = this.expectsKey = false
    this.key = this.holder = ''
    this.captured = null
  }

  read(bytes: Uint8Array, from = 0, to: number = bytes.length): void {
    for (let i = from; i < to; i++) this.readByte(bytes[i]!)
  }

  private readByte(byte: number): void {
    if (this.captured !== null && this.captured.push(byte) > MAX_USAGE) this.captured = null
    if (this.inString) this.readInString(byte)
    else if (byte === QUOTE) {
      this.inString = true
      if (this.expectsKey) this.key = ''
    } else if (byte === OPEN) this.open()
    else if (byte === CLOSE) this.close()
    else if (byte === OPEN_LIST) this.lists++
    else if (byte === CLOSE_LIST) this.lists = Math.max(0, this.lists - 1)
    else if (byte === COLON) this.expectsKey = false
    else if (byte === COMMA) this.expectsKey = this.isWatched
  }

  private readInString(byte: number): void {
    if (this.isEscaped) this.isEscaped = false
    else if (byte === BACKSLASH) this.isEscaped = true
    else if (byte === QUOTE) {
      this.inString = false
      return
    }
    if (this.expectsKey && this.key.length < MAX_KEY) this.key += String.fromCharCode(byte)
  }

  /** Whether keys matter here: in the top object, or in a holder directly under it. */
  private get isWatched(): boolean {
    return this.lists === 0 && (this.depth === 1 || (this.depth === 2 && this.holder !== ''))
  }

  private open(): void {
    const isUsage = this.isWatched && this.key === 'usage'
    if (isUsage && this.captured === null) {
      this.captured = [OPEN]
      this.capturedFrom = this.depth
    }
    this.depth++
    if (this.lists === 0 && this.depth === 2 && HOLDERS.includes(this.key)) this.holder = this.key
    this.key = ''
    this.expectsKey = this.isWatched
  }

  private close(): void {
    this.depth = Math.max(0, this.depth - 1)
    if (this.captured !== null && this.depth === this.capturedFrom) this.finish()
    if (this.depth <= 1) this.holder = ''
    this.key = ''
    this.expectsKey = false
  }

  private finish(): void {
    const text = Buffer.from(this.captured!).toString('utf8')
    this.captured = null
    try {
      const usage: unknown = JSON.parse(text)
      if (typeof usage === 'object' && usage !== null)
        this.onUsage(usage as Readonly<Record<string, unknown>>, this.holder)
    } catch {
      // Not JSON: as good as no usage.
    }
  }
}
