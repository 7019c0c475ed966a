// Holds the rules of tests: none sleeps without a reason, none is left out, and none gets a second try.
import { readdirSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { root } from './run.mjs'

/**
 * Files of tests that may wait in real time, and why. A wait that a busy machine can turn into a failure has no place
 * here: wait for an event, hold an answer, or move a fake clock.
 * @type {Readonly<Record<string, string>>}
 */
export const MAY_WAIT = {
  'packages/server/test/shutdown.test.ts':
    'a stop that waits for nothing is told from one that waits for two minutes',
  'packages/server/test/upstream/ending.test.ts': 'an upstream under load takes its time to answer',
  'packages/server/test/upstream/hostile.test.ts':
    'random input: the moment at which a client leaves is part of it',
  'packages/server/test/upstream/trouble.test.ts':
    'the system must read the bytes before the reset that follows them',
  'packages/server/test/upstream/websocket.test.ts':
    'random input: the moment at which a client leaves is part of it',
  'packages/sluice/test/redis/late.test.ts':
    'calls in a row share one deadline, which a real server and a real timer keep',
  'packages/sluice/test/redis/matrix-sentinel.test.ts':
    'clients of a server that is down try again every 20 ms, as applications do',
  'test/coordination/member.ts': 'a process under load: real servers, real time',
  'test/faults/charges.ts': 'the fault lab: real servers, real time',
  'test/faults/fault-proxy.test.ts':
    'nothing may arrive meanwhile; a slow machine makes the test weaker but never fail',
  'test/faults/lab.ts': 'the fault lab: real servers, real time',
  'test/faults/load.ts': 'the fault lab: real servers, real time',
  'test/faults/pod.ts': 'the fault lab: real servers, real time',
  'test/faults/proxy-pipe.ts': 'the fault proxy delays bytes in real time',
  'test/servers/guarded-process.ts': 'the end of a process that does not end by itself',
  'test/servers/resp.ts': 'the end of a call that gets no answer',
  'test/servers/until.ts': 'the one place where tests poll a real server',
}

/** @type {readonly (readonly [what: string, pattern: RegExp])[]} */
const RULES = [
  ['is left out or run alone', /\b(?:it|test|describe)(?:\.\w+)*\.(?:only|skip|todo)\b/],
  ['gets a second try', /\bretry\s*:\s*(?:[1-9]|\{\s*count)/],
]
/** `setTimeout`, or a sleep of timers/promises under whichever name; not the timers of a fake clock or of a socket. */
const WAIT = /(?<![.\w'])setTimeout\(|\bfrom '(?:node:)?timers\/promises'/

/**
 * What a file of tests does wrong, one sentence each.
 * @param {string} path from the root of the workspace
 * @param {string} text
 * @returns {string[]}
 */
export function problemsOf(path, text) {
  const found = []
  for (const [i, line] of text.split('\n').entries()) {
    for (const [what, pattern] of RULES) {
      if (pattern.test(line)) found.push(`${path}:${i + 1}: a test ${what}: ${line.trim()}`)
    }
    if (WAIT.test(line) && !(path in MAY_WAIT)) {
      found.push(
        `${path}:${i + 1}: a test waits in real time: ${line.trim()}; wait for an event, hold an answer, or move a fake clock (reasons to wait are listed in scripts/check-tests.mjs)`,
      )
    }
  }
  return found
}

/** Every file that belongs to tests: `*.test.ts` anywhere, and what stands in folders of tests; not the test of this. */
function testFiles() {
  const folders = ['packages', 'test', 'scripts', 'bench', 'examples']
  const all = folders.flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map(
      (path) => `${folder}/${path}`,
    ),
  )
  return all.filter(
    (path) =>
      path !== 'scripts/check-tests.test.ts' &&
      !/(^|\/)(node_modules|dist[^/]*)\//.test(path) &&
      (path.endsWith('.test.ts') || /^(test|packages\/\w+\/test)\/.*\.ts$/.test(path)),
  )
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const files = testFiles()
  const texts = new Map(files.map((path) => [path, readFileSync(root + path, 'utf8')]))
  const problems = [...texts].flatMap(([path, text]) => problemsOf(path, text))
  for (const path of Object.keys(MAY_WAIT)) {
    if (!WAIT.test(texts.get(path) ?? ''))
      problems.push(`scripts/check-tests.mjs: ${path} does not wait any more; remove its line`)
  }
  for (const problem of problems) console.error(problem)
  console.log(`${files.length} files of tests, ${problems.length} problems`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
