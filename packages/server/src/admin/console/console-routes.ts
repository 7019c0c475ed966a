// The routes of the console on the admin listener: its pages, signing in and out, and what only the console reads.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PortState } from '../../net/http-listener.ts'
import { readJson, sendJson, sendProblem } from '../../net/body.ts'
import { problemOf, problemOfError, RequestError, type Problem } from '../../net/problem.ts'
import type { Attempts } from '../attempts.ts'
import type { Audit } from '../audit.ts'
import type { TokenRing } from '../token-ring.ts'
import type { LiveFeed } from './live-feed.ts'
import { SESSION_COOKIE, SESSION_LIFE, type Session, type Sessions } from './session.ts'
import type { StaticFiles } from './static-files.ts'

/** Requests of the console carry this field: no form and no page of another site can set it. */
const OWN_FIELD = 'sluice-console'
const MAX_BODY = 4096

/** Answers one question of the console for a session. */
type ConsoleView = () => object | Promise<object>
/** Answers one POST request of the console. */
type ConsoleOperation = (body: unknown) => Promise<object>

/** What the console is made of. */
export interface ConsoleOptions {
  readonly tokens: TokenRing
  readonly sessions: Sessions
  readonly attempts: Attempts
  readonly audit: Audit
  readonly files: StaticFiles
  readonly feed: LiveFeed
  /** By GET `/console/<name>`. */
  readonly views: Readonly<Record<string, ConsoleView>>
  /** By POST `/console/<name>`. */
  readonly questions: Readonly<Record<string, ConsoleOperation>>
  readonly maxBody: number
  readonly port: PortState
  readonly onError: (error: unknown) => void
}

/** Answers requests for the console; the rest belongs to the admin API. */
export interface Console {
  /** Whether the request was one for the console. */
  handle(path: string, request: IncomingMessage, response: ServerResponse): boolean
  /** The session of a request to the admin API; changes must come from the console's own pages. */
  sessionOf(request: IncomingMessage): Session | undefined
}

/** Makes the console's part of the admin listener. */
export function createConsole(options: ConsoleOptions): Console {
  const { tokens, sessions, attempts, audit, files, feed, port } = options

  const fail = (response: ServerResponse, problem: Problem, closes = false): void =>
    sendProblem(response, problem, closes || port.isClosing)
  const answer = (response: ServerResponse, value: object): void =>
    sendJson(response, 200, JSON.stringify(value), port.isClosing)
  const failed = (response: ServerResponse, error: unknown): void => {
    const problem = problemOfError(error)
    if (problem.status === 500) options.onError(error)
    fail(response, problem)
  }

  const signIn = async (
    request: IncomingMessage,
    response: ServerResponse,
    body: unknown,
  ): Promise<void> => {
    const { remoteAddress } = request.socket
    const who = { address: remoteAddress ?? 'unknown' }
    const { token, code } = credentialsIn(body)
    const holder =
      token === undefined
        ? code === undefined
          ? undefined
          : await sessions.useLink(code)
        : tokens.find(token)
    if (holder === undefined) {
      const wait = attempts.waitOf(remoteAddress)
      if (wait > 0) {
        audit.tooMany(who)
        response.setHeader('retry-after', Math.ceil(wait / 1000))
        fail(
          response,
          problemOf(429, 'too-many-attempts', 'Too many failed attempts. Wait a minute.'),
        )
        return
      }
      attempts.failed(remoteAddress)
      audit.write(
        who,
        'sign-in',
        {},
        'refused',
        'a wrong token, or a link that was used or has ended',
      )
      const detail =
        token === undefined
          ? 'This link was used or has ended. Sign in with a token.'
          : 'This is not a token of this service.'
      fail(response, problemOf(403, 'wrong-token', detail))
      return
    }
    audit.write({ ...who, token: holder.name }, 'sign-in', {}, 'done')
    response.setHeader('set-cookie', cookieText(sessions.open(holder), SESSION_LIFE, request))
    answer(response, { name: holder.name, role: holder.role, end: Date.now() + SESSION_LIFE })
  }

  const post = (
    request: IncomingMessage,
    response: ServerResponse,
    maxBody: number,
    done: (body: unknown) => void,
  ): void => {
    const answered = (body: unknown): void => {
      try {
        done(body)
      } catch (error) {
        failed(response, error)
      }
    }
    if (isOwn(request)) readJson(request, maxBody, answered, (error) => failed(response, error))
    else fail(response, crossSite(), true)
  }

  const get = (path: string, request: IncomingMessage, response: ServerResponse): void => {
    const name = path.slice('/console/'.length)
    const session = sessions.of(request.headers.cookie)
    if (name === 'session') answer(response, session ?? { name: null })
    else if (session === undefined) fail(response, signedOut())
    else if (name === 'events') {
      // Asked every second: a token that is taken back ends the streams of its sessions too.
      if (!feed.add(response, () => sessions.of(request.headers.cookie) !== undefined))
        fail(response, problemOf(503, 'too-many-viewers', 'too many pages are open'))
    } else if (Object.hasOwn(options.views, name)) {
      Promise.resolve()
        .then(options.views[name])
        .then((value) => answer(response, value))
        .catch((error: unknown) => failed(response, error))
    } else fail(response, unknownRoute())
  }

  const handlePost = (path: string, request: IncomingMessage, response: ServerResponse): void => {
    const name = path.slice('/console/'.length)
    if (name === 'sign-in')
      post(request, response, MAX_BODY, (body) => {
        signIn(request, response, body).catch((error: unknown) => failed(response, error))
      })
    else if (name === 'sign-out') {
      post(request, response, MAX_BODY, () => {
        response.setHeader('set-cookie', cookieText('', 0, request))
        answer(response, {})
      })
    } else if (!Object.hasOwn(options.questions, name)) fail(response, unknownRoute(), true)
    else if (sessions.of(request.headers.cookie) === undefined) fail(response, signedOut(), true)
    else {
      post(request, response, options.maxBody, (body) => {
        options.questions[name]!(body).then(
          (value) => answer(response, value),
          (error: unknown) => failed(response, error),
        )
      })
    }
  }

  return {
    handle: (path, request, response) => {
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      if (isRead && files.send(path, request, response)) return true
      if (!path.startsWith('/console/')) return false
      if (isRead) get(path, request, response)
      else if (request.method === 'POST') handlePost(path, request, response)
      else {
        response.setHeader('allow', 'GET, HEAD, POST')
        fail(response, problemOf(405, 'method-not-allowed', 'accepted: GET, HEAD, POST'), true)
      }
      return true
    },
    sessionOf: (request) => {
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      return isRead || isOwn(request) ? sessions.of(request.headers.cookie) : undefined
    },
  }
}

/** Whether a request comes from the console's own pages, as far as a browser sent it. */
function isOwn({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers
  if (headers[OWN_FIELD] === undefined) return false
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  return origin === undefined || origin.replace(/^https?:\/\//, '') === host
}

function credentialsIn(body: unknown): { readonly token?: string; readonly code?: string } {
  const { token, code } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >
  if (typeof token === 'string') return { token }
  if (typeof code === 'string') return { code }
  throw new RequestError(400, 'invalid-body', 'token is missing; accepted: a token')
}

function cookieText(value: string, life: number, { socket }: IncomingMessage): string {
  const secure = 'encrypted' in socket ? '; Secure' : ''
  return `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${Math.floor(life / 1000)}${secure}`
}

const crossSite = (): Problem =>
  problemOf(403, 'cross-site', 'this request did not come from a page of the console')
const signedOut = (): Problem => problemOf(401, 'signed-out', 'there is no session; sign in')
const unknownRoute = (): Problem => problemOf(404, 'unknown-route', 'there is nothing at this path')
