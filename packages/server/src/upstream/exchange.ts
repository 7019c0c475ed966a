// One request to the upstream and its answer: both bodies are streams, and the client sees an error if either side breaks.
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { answerProblem } from './answer.ts'
import type { RequestHead } from './request-head.ts'
import { FAILURES, failureOf, limitConnecting, type UpstreamFailure } from './failure.ts'
import { RawFields } from './fields.ts'
import { reasonOf, responseFields } from './heads.ts'
import { trailersOf } from './hop-by-hop.ts'
import type { Upstream } from './upstream.ts'

/** How an exchange ended: with an answer of the upstream, cut off in its midst, left by the client, or not at all. */
export type ExchangeEnd = 'forwarded' | 'cut' | 'abandoned' | UpstreamFailure

/** What an exchange works with. */
export interface ExchangeOptions {
  readonly upstream: Upstream
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly head: RequestHead
  /** The fields of the request to the upstream. */
  readonly fields: RawFields
  readonly via: string | null
  /** The fields by which requests are counted. */
  readonly counted: ReadonlySet<string>
  /** Adds the fields about limits to those of a response. */
  readonly writeLimits: (fields: RawFields) => void
  readonly closes: () => boolean
  /** Takes the two connections over when the upstream switches protocols; without it that is a failure. */
  readonly onSwitch?: (answer: IncomingMessage, socket: Socket, firstBytes: Buffer) => void
  /** Called when the head of the response has arrived, before its body is forwarded. */
  readonly onHead: (answer: IncomingMessage) => void
  /** Called once, at the end. */
  readonly onEnd: (ending: ExchangeEnd, error?: Error) => void
}

/** How long an upstream may leave `Expect: 100-continue` unanswered before the body is sent all the same. */
const CONTINUE_AFTER = 1000

/** Forwards a request, and its response back. */
export class Exchange {
  private readonly options: ExchangeOptions
  private sent: ClientRequest | undefined
  private expecting: NodeJS.Timeout | undefined
  private hasHead = false
  private hasEnded = false

  constructor(options: ExchangeOptions) {
    this.options = options
  }

  start(): void {
    const { upstream, request, response } = this.options
    if (upstream.isFull) {
      this.fail('overloaded')
      return
    }
    upstream.active++
    response.once('close', () => {
      upstream.active--
      clearTimeout(this.expecting)
      if (this.hasEnded) return
      this.sent?.destroy()
      this.end('abandoned')
    })
    // What is wrong with the client's connection shows in the response's end.
    request.on('error', () => {})
    response.on('error', () => {})
    this.send(false)
  }

  private send(isFresh: boolean): void {
    const { upstream, request, head, fields, onSwitch } = this.options
    let sent: ClientRequest
    try {
      sent = upstream.request(request.method ?? 'GET', head.target, fields, isFresh)
    } catch (error) {
      this.fail('invalid', error as Error)
      return
    }
    this.sent = sent
    sent.on('socket', (socket) => limitConnecting(sent, socket, upstream.connectTimeout))
    sent.on('timeout', () => this.onTimeout())
    sent.on('error', (error: NodeJS.ErrnoException) => this.onError(sent, error))
    sent.on('information', ({ statusCode, headers }) => this.sendInformational(statusCode, headers))
    sent.on('response', (answer) => this.onResponse(sent, answer))
    sent.on('upgrade', (answer, socket, firstBytes) => {
      if (this.hasEnded || onSwitch === undefined || !isWebSocket(answer)) {
        socket.destroy()
        this.fail('invalid')
        return
      }
      this.hasHead = true
      this.hasEnded = true
      onSwitch(answer, socket, firstBytes)
    })
    this.sendBody(sent)
  }

  private sendBody(sent: ClientRequest): void {
    const { request, response, head, counted } = this.options
    if (head.body === 'none') {
      sent.end()
      return
    }
    const pipe = (): void => {
      clearTimeout(this.expecting)
      request.pipe(sent, { end: false })
      request.once('end', () => {
        if (request.rawTrailers.length > 0)
          sent.addTrailers(trailersOf(request.rawTrailers, counted))
        sent.end()
      })
    }
    if (head.body === 'chunked' || head.expects) sent.flushHeaders()
    if (!head.expects) {
      pipe()
      return
    }
    const continueRequest = (): void => {
      sent.removeListener('continue', continueRequest)
      if (this.hasHead || this.hasEnded) return
      response.writeContinue()
      pipe()
    }
    sent.once('continue', continueRequest)
    this.expecting = setTimeout(continueRequest, CONTINUE_AFTER)
  }

  /** Passes an interim response on if Node can send it; the answer to `Expect` is sent elsewhere. */
  private sendInformational(status: number, headers: IncomingMessage['headers']): void {
    const { request, response } = this.options
    if (request.httpVersionMinor === 0 || response.headersSent || this.hasEnded) return
    if (status === 102) response.writeProcessing()
    else if (status === 103 && headers['link'] !== undefined) {
      try {
        response.writeEarlyHints({ link: headers['link'] })
      } catch {
        // A link that Node does not take; the final response has it again.
      }
    }
  }

  private onResponse(sent: ClientRequest, answer: IncomingMessage): void {
    const { upstream, request, response, via, writeLimits, closes, head, onHead } = this.options
    if (this.hasEnded) {
      answer.destroy()
      return
    }
    this.hasHead = true
    clearTimeout(this.expecting)
    onHead(answer)
    const isChunked =
      request.httpVersionMinor > 0 && answer.headers['transfer-encoding'] !== undefined
    const hasBody = request.method !== 'HEAD' && ![204, 304].includes(answer.statusCode!)
    const fields = responseFields(answer, isChunked && hasBody, via)
    writeLimits(fields)
    // The body that was not requested may still arrive, or the next request in its place.
    if (closes() || (head.expects && !request.complete)) fields.set('Connection', 'close')
    try {
      response.writeHead(answer.statusCode!, reasonOf(answer), fields.raw)
    } catch (error) {
      this.hasHead = false
      answer.destroy()
      this.fail('invalid', error as Error)
      return
    }
    answer.on('error', (error: Error) => this.cut(error))
    answer.pipe(response, { end: false })
    answer.once('end', () => {
      if (isChunked && hasBody && answer.rawTrailers.length > 0)
        response.addTrailers(trailersOf(answer.rawTrailers))
      response.end()
      // A client that does not read what is left must not stay for ever.
      if (!response.writableFinished) response.socket?.setTimeout(upstream.timeout)
      this.end('forwarded')
      if (!sent.writableFinished) this.forgetBody(sent)
    })
    // A head without a body yet must not wait for it.
    setImmediate(() => {
      if (!response.writableEnded && !response.destroyed) response.flushHeaders()
    })
  }

  /** The upstream has answered without the whole body; what is left of it goes nowhere. */
  private forgetBody(sent: ClientRequest): void {
    const { request } = this.options
    request.unpipe(sent)
    request.resume()
    sent.destroy()
  }

  private onTimeout(): void {
    const { request, response, head } = this.options
    const error = new Error('nothing has moved for too long')
    // The upstream is the slow side, unless the client does not read or does not send its body.
    if (this.hasHead && response.writableNeedDrain) {
      this.end('abandoned')
      response.destroy()
    } else if (this.hasHead) this.cut(error)
    else {
      const isClients = head.body !== 'none' && !request.complete && !this.sent?.writableNeedDrain
      this.fail(isClients ? 'slow' : 'timeout', error)
    }
    this.sent?.destroy()
  }

  private onError(sent: ClientRequest, error: NodeJS.ErrnoException): void {
    if (this.hasEnded || sent !== this.sent) return
    if (this.hasHead) this.cut(error)
    else if (this.maySendAgain(sent, error)) this.send(true)
    else this.fail(failureOf(error, sent), error)
  }

  /** Only what was sent on a kept connection that had gone meanwhile, changes nothing, and is still whole. */
  private maySendAgain(sent: ClientRequest, { code }: NodeJS.ErrnoException): boolean {
    const { request, head } = this.options
    if (!sent.reusedSocket || (code !== 'ECONNRESET' && code !== 'EPIPE')) return false
    return head.body === 'none' && ['GET', 'HEAD', 'OPTIONS'].includes(request.method ?? '')
  }

  /** Nothing has been sent to the client yet, so it gets a problem. */
  private fail(failure: UpstreamFailure, error?: Error): void {
    const { request, response, writeLimits, closes } = this.options
    if (this.hasEnded) return
    this.end(failure, error)
    if (this.sent !== undefined) request.unpipe(this.sent)
    const fields = new RawFields()
    writeLimits(fields)
    try {
      answerProblem(request, response, FAILURES[failure], closes(), fields)
    } catch {
      // Whatever Node refuses to write, the client must not wait for it, and the process must go on.
      response.destroy()
    }
  }

  /** The client has a part of the response and must see that it is not the whole. */
  private cut(error: Error): void {
    if (this.hasEnded) return
    this.end('cut', error)
    this.options.response.destroy()
  }

  private end(ending: ExchangeEnd, error?: Error): void {
    this.hasEnded = true
    this.options.onEnd(ending, error)
  }
}

function isWebSocket({ statusCode, headers }: IncomingMessage): boolean {
  return statusCode === 101 && headers.upgrade?.toLowerCase() === 'websocket'
}
