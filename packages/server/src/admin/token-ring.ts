// The tokens in force: one from the environment, and those of a file that may change while the service runs.
import { timingSafeEqual } from 'node:crypto'
import type { AdminListenerConfig } from '../config/config.ts'
import { Retry } from '../reload/retry.ts'
import { watchFile, type WatchOptions } from '../reload/watch-file.ts'
import type { Log } from '../log/log.ts'
import { digestOf, isReadByOthers, readTokens, type Token } from '../config/tokens.ts'

/** Follows the file of tokens. */
export class TokenRing {
  private readonly own: readonly Token[]
  private fromFile: readonly Token[] = []
  private readonly file: string | undefined
  private readonly log: Log
  private watcher: { close(): void } | undefined
  private readonly retry = new Retry(() => this.reload())
  private lastProblem = ''

  constructor(config: AdminListenerConfig, file: string | undefined, log: Log) {
    const { tokenDigest } = config
    this.own = tokenDigest === undefined ? [] : [environmentToken(tokenDigest)]
    this.file = file
    this.log = log
  }

  /** Reads the file and follows it; rejects when it is wrong. */
  async open(watch: WatchOptions | false | undefined): Promise<void> {
    if (this.file === undefined) return
    this.fromFile = await readTokens(this.file)
    if (await isReadByOthers(this.file))
      this.log.warn(
        { code: 'exposed-tokens', file: this.file },
        'every user of this machine can read the admin tokens; take the right from others, such as chmod 640',
      )
    if (watch !== false) this.watcher = watchFile(this.file, () => void this.reload(), watch)
  }

  /** All tokens in force. */
  get all(): readonly Token[] {
    return [...this.own, ...this.fromFile]
  }

  /** The token in an Authorization field. */
  holderOf(authorization: string | undefined): Token | undefined {
    const presented = /^Bearer +([\x21-\x7e]{1,512})$/i.exec(authorization ?? '')?.[1]
    return presented === undefined ? undefined : this.find(presented)
  }

  /**
   * The token of that text. Every token is compared, each in the same time, so that nothing about them follows from how
   * long the answer takes.
   */
  find(presented: string): Token | undefined {
    const digest = digestOf(presented)
    let found: Token | undefined
    for (const token of this.all) if (timingSafeEqual(digest, token.digest)) found = token
    return found
  }

  close(): void {
    this.watcher?.close()
    this.retry.close()
  }

  /** Reads the file again. When it is wrong, the tokens stay as they were. Never rejects. */
  async reload(): Promise<void> {
    try {
      const before = this.fromFile
      this.fromFile = await readTokens(this.file!)
      this.lastProblem = ''
      const isSame =
        before.length === this.fromFile.length &&
        before.every(({ digest }, i) => digest.equals(this.fromFile[i]!.digest))
      if (!isSame)
        this.log.info({ names: this.fromFile.map(({ name }) => name) }, 'admin tokens changed')
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException
      // An error of the system, not of a line.
      if (code !== undefined) this.retry.later()
      if (message === this.lastProblem) return
      this.lastProblem = message
      this.log.error({ error: message }, 'the admin tokens cannot be read; the old ones stay')
    }
  }
}

/** The token that the environment gives, of which only the hash is known. */
export function environmentToken(tokenDigest: string): Token {
  return { name: 'environment', role: 'operate', digest: Buffer.from(tokenDigest, 'hex') }
}
