// Writes answers: the whole text in one call, with the headers that every answer has.
import type { ServerResponse } from 'node:http'
import type { Problem } from './problem.ts'

const JSON_TYPE = 'application/json'
const PROBLEM_TYPE = 'application/problem+json'

/** Sends a string with its length; with `closing` the answer is the last of its connection. */
export function sendText(
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  closing: boolean,
): void {
  const length = Buffer.byteLength(text)
  const headers = { 'content-type': type, 'content-length': length, 'cache-control': 'no-store' }
  response.writeHead(status, closing ? { ...headers, connection: 'close' } : headers)
  // Text of one byte for each character is copied as it is.
  response.end(text, length === text.length ? 'latin1' : 'utf8')
}

/** Sends JSON that is already text. */
export function sendJson(
  response: ServerResponse,
  status: number,
  text: string,
  closing: boolean,
): void {
  sendText(response, status, JSON_TYPE, text, closing)
}

/** Sends an error; a 503 carries Retry-After. */
export function sendProblem(response: ServerResponse, problem: Problem, closing: boolean): void {
  const { status } = problem
  if (status === 503) response.setHeader('retry-after', '1')
  // What is left of a body that was not read must not be taken for the next request.
  sendText(response, status, PROBLEM_TYPE, JSON.stringify(problem), closing || status === 413)
}
