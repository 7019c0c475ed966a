import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors.ts'
import { isNoScript, storeError } from './redis-errors.ts'

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name })

describe('an error of a client', () => {
  it.each([
    [
      'WRONGTYPE Operation against a key holding the wrong kind of value',
      'store-wrong-type',
      false,
    ],
    ['NOAUTH Authentication required.', 'store-forbidden', false],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'store-forbidden', false],
    [
      "NOPERM User limited has no permissions to run the 'evalsha' command",
      'store-forbidden',
      false,
    ],
    [
      "ERR The user executing the script can't run this command or subcommand",
      'store-forbidden',
      false,
    ],
    ['ERR Protocol error: unauthenticated multibulk length', 'store-forbidden', false],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'store-full', true],
    ["READONLY You can't write against a read only replica.", 'store-readonly', true],
    ['MISCONF Redis is configured to save RDB snapshots', 'store-readonly', true],
    ['BUSY Redis is busy running a script.', 'store-busy', true],
    ['LOADING Redis is loading the dataset in memory', 'store-busy', true],
    ['MASTERDOWN Link with MASTER is down', 'store-busy', true],
    ['TRYAGAIN Multiple keys request during rehashing of slot', 'store-busy', true],
    ['CLUSTERDOWN The cluster is down', 'store-busy', true],
    ['NOREPLICAS Not enough good replicas to write.', 'store-busy', true],
    ['Too many Cluster redirections. Last error: Error: MOVED 1 127.0.0.1:1', 'store-busy', true],
    ['ERR unknown command', 'store-failed', false],
    ["ERR Error running script: attempt to index global 'x'", 'store-failed', false],
  ])('that says %s is %s, transient %s', (message, code, transient) => {
    const error = storeError(named('ReplyError', message))
    expect([error.code, error.transient]).toEqual([code, transient])
    expect(error.message).toContain(message)
  })

  it.each([
    ['Error', 'Connection is closed.', 'store-unreachable'],
    [
      'Error',
      "Stream isn't writeable and enableOfflineQueue options is false",
      'store-unreachable',
    ],
    ['Error', "Cluster isn't ready and enableOfflineQueue options is false", 'store-unreachable'],
    ['Error', 'connect ECONNREFUSED 127.0.0.1:6379', 'store-unreachable'],
    ['Error', 'connect ETIMEDOUT', 'store-unreachable'],
    ['Error', 'getaddrinfo ENOTFOUND redis', 'store-unreachable'],
    [
      'Error',
      'All sentinels are unreachable. Retrying from scratch after 10ms.',
      'store-unreachable',
    ],
    ['MaxRetriesPerRequestError', 'Reached the max retries per request limit', 'store-unreachable'],
    ['ClusterAllFailedError', 'Failed to refresh slots cache.', 'store-unreachable'],
    ['ClientClosedError', 'The client is closed', 'store-unreachable'],
    ['ClientOfflineError', 'The client is offline', 'store-unreachable'],
    ['SocketClosedUnexpectedlyError', 'Socket closed unexpectedly', 'store-unreachable'],
    ['RootNodesUnavailableError', 'All the root nodes are unavailable', 'store-unreachable'],
    ['ClosingError', 'Unable to execute requests; the client is closed.', 'store-unreachable'],
    ['ConnectionError', 'FatalDisconnectError', 'store-unreachable'],
    ['ErrorReply', 'ERR max number of clients reached', 'store-unreachable'],
    ['Error', 'Command timed out', 'store-timeout'],
    ['TimeoutError', 'timed out', 'store-timeout'],
    ['TimeoutError', 'Timeout waiting for a client', 'store-timeout'],
  ])('named %s that says %s passes', (name, message, code) => {
    const error = storeError(named(name, message))
    expect([error.code, error.transient]).toEqual([code, true])
  })

  it('may be a text, or one of ours', () => {
    expect(storeError('OOM no').code).toBe('store-full')
    const ours = new SluiceError('store-timeout', 'late')
    expect(storeError(ours)).toBe(ours)
  })

  it('keeps what the client said as its cause', () => {
    const cause = new Error('Connection is closed.')
    expect(storeError(cause).cause).toBe(cause)
  })
})

describe('a missing script', () => {
  it.each([
    [named('ReplyError', 'NOSCRIPT No matching script. Please use EVAL.'), true],
    [named('RequestError', 'NoScriptError: No matching script.'), true],
    [named('ReplyError', 'ERR unknown command'), false],
    ['NOSCRIPT', true],
    [undefined, false],
  ])('%s: %s', (error, expected) => {
    expect(isNoScript(error)).toBe(expected)
  })
})
