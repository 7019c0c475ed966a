// The store of a worker whose counts live in another process: it asks the owner, once for each turn.
import { connect, type Socket } from 'node:net'
import {
  SluiceError,
  type AsyncStore,
  type Check,
  type Millis,
  type StoreEvent,
  type Verdict,
} from 'sluice'
import { onFrame, sendFrame } from './frames.ts'
import { Kinds } from './kinds.ts'
import { Answers, machineTime, type Operation } from './owner-wire.ts'
import { Turn } from './turn.ts'

/** When a call is given up. An owner that has ended is known at once; this is for one that is stuck. */
const TIMEOUT = 1000
/** The owner is on the same machine and is started again within moments: asking often costs nothing. */
const CONNECT_EVERY = 50

/** Asks the owner at a socket of the file system; reconnects for as long as it is open. */
export class OwnerStore implements AsyncStore {
  readonly timeout: Millis
  private readonly path: string
  private readonly watchers = new Set<(event: StoreEvent) => void>()
  private socket: Socket | undefined
  private isConnected = false
  private isClosed = false
  private kinds = new Kinds()
  /** What this turn has gathered. */
  private open: Turn | undefined
  /** Sent and not answered, in the order in which answers come. */
  private sent: Turn[] = []
  private timer: NodeJS.Timeout | undefined
  private retry: NodeJS.Timeout | undefined

  constructor(path: string, timeout: Millis = TIMEOUT) {
    this.path = path
    this.timeout = timeout
    this.connect()
  }

  take(checks: readonly Check[]): Promise<readonly Verdict[]> {
    return this.ask('take', checks)
  }

  peek(checks: readonly Check[]): Promise<readonly Verdict[]> {
    return this.ask('peek', checks)
  }

  async refund(checks: readonly Check[]): Promise<void> {
    await this.ask('refund', checks)
  }

  async reset(checks: readonly Check[]): Promise<void> {
    await this.ask('reset', checks)
  }

  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.retry)
    this.socket?.destroy()
    this.lost()
  }

  watch(watcher: (event: StoreEvent) => void): () => void {
    this.watchers.add(watcher)
    return () => this.watchers.delete(watcher)
  }

  /** Resolves when the owner can be asked, at the latest after so many milliseconds. */
  connected(patience: Millis): Promise<boolean> {
    if (this.isConnected) return Promise.resolve(true)
    return new Promise((resolve) => {
      const done = (isConnected: boolean): void => {
        clearTimeout(timer)
        unwatch()
        resolve(isConnected)
      }
      const timer = setTimeout(() => done(false), patience)
      const unwatch = this.watch(({ type }) => {
        if (type === 'reachable') done(true)
      })
    })
  }

  private ask(operation: Operation, checks: readonly Check[]): Promise<readonly Verdict[]> {
    // Nothing waits for a connection: what is charged must be charged while somebody waits for the answer.
    if (!this.isConnected) return Promise.reject(unreachable())
    if (this.open === undefined) {
      this.open = new Turn()
      // While nothing is on its way, nothing waits; under load, all questions of the turn travel together.
      if (this.sent.length === 0) queueMicrotask(this.flush)
      else setImmediate(this.flush)
    }
    return this.open.ask(operation, checks, this.kinds)
  }

  private readonly flush = (): void => {
    const turn = this.open
    if (turn === undefined || this.socket === undefined) return
    this.open = undefined
    turn.deadline = machineTime() + this.timeout
    this.sent.push(turn)
    this.timer ??= setTimeout(this.look, this.timeout)
    sendFrame(this.socket, turn.text(this.kinds))
  }

  /** An answer that has arrived while this process was busy is read first. */
  private readonly look = (): void => {
    setImmediate(() => {
      const now = machineTime()
      for (const turn of this.sent) {
        if (turn.deadline <= now && !turn.isGivenUp) turn.fail(tooLate())
      }
      const waiting = this.sent.find(({ isGivenUp }) => !isGivenUp)
      this.timer = waiting && setTimeout(this.look, Math.max(1, waiting.deadline - machineTime()))
    })
  }

  private connect(): void {
    const socket = connect(this.path)
    this.socket = socket
    socket.on('connect', () => {
      this.kinds = new Kinds()
      this.isConnected = true
      this.tell({ type: 'reachable' })
    })
    onFrame(socket, (payload) => this.receive(new Answers(payload)))
    socket.on('error', () => {})
    socket.on('close', () => {
      if (this.isClosed || this.socket !== socket) return
      this.lost()
      this.retry = setTimeout(() => this.connect(), CONNECT_EVERY * (0.5 + Math.random()))
    })
  }

  private receive(answers: Answers): void {
    const turn = this.sent.shift()
    if (turn === undefined) return
    if (answers.isTooLate) {
      if (!turn.isGivenUp) turn.fail(tooLate())
      return
    }
    if (!turn.isGivenUp) {
      turn.settle(answers)
      return
    }
    for (const charged of turn.charged(answers)) {
      this.tell({ type: 'late-answer', refunded: charged.length > 0 })
      if (charged.length > 0) this.refund(charged).catch(() => {})
    }
  }

  /** Whoever waits is told; whether the owner had acted on it, nobody knows, and its counts may be gone. */
  private lost(): void {
    this.isConnected = false
    const turns = this.open === undefined ? this.sent : [...this.sent, this.open]
    this.sent = []
    this.open = undefined
    clearTimeout(this.timer)
    this.timer = undefined
    for (const turn of turns) if (!turn.isGivenUp) turn.fail(unreachable())
  }

  private tell(event: StoreEvent): void {
    for (const watcher of this.watchers) watcher(event)
  }
}

function unreachable(): SluiceError {
  return new SluiceError('store-unreachable', 'the owner of the counts cannot be reached', {
    transient: true,
  })
}

function tooLate(): SluiceError {
  return new SluiceError('store-timeout', 'the owner of the counts did not answer in time', {
    transient: true,
  })
}
