// The floor: a bare node:http server that does what any server of this protocol must. It reads and parses each body,
// looks at each check in it, and answers as many bytes as the service does, with a number of its own in each decision.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { readConfig } from '@sluice/server'
import { createLimiter } from 'sluice'

const { config, problems } = readConfig(
  readFileSync(new URL('sluice.yaml', import.meta.url), 'utf8'),
  'bench',
)
if (!config) throw new Error(JSON.stringify(problems))

/** The text of a decision around its number: whole, and as it stands in a batch. @typedef {{ whole: [string, string], brief: [string, string] }} Template */

/** The answers by the name of the policy. @type {Map<string, Template>} */
const templates = new Map(config.policies.map((policy) => [policy.name, templateOf(policy)]))

/** @param {any} policy @returns {Template} */
function templateOf(policy) {
  const decision = createLimiter({ policy }).check({ key: 'a', user: 'a', tenant: 'a' })
  const whole = JSON.stringify(decision)
  const { outcomes: _, skipped: __, ...brief } = JSON.parse(whole)
  return { whole: around(whole), brief: around(JSON.stringify(brief)) }
}

/** @param {string} text @returns {[string, string]} */
function around(text) {
  const [start = '', end = ''] = text.split(/(?<="remaining":)\d+(.*)/s, 2)
  return [start, end]
}

let count = 1_000_000_000

/** @param {{ policy: string, key?: string, attributes?: { user: string } }} check @param {'whole' | 'brief'} kind */
function answer({ policy, key, attributes }, kind) {
  const template = templates.get(policy)
  if (template === undefined || (key ?? attributes?.user) === undefined) throw new Error(policy)
  const [start, end] = template[kind]
  return `${start}${--count}${end}`
}

/** @param {any} body */
function answerBody(body) {
  if (!('checks' in body)) return answer(body, 'whole')
  let all = '{"decisions":['
  for (let i = 0; i < body.checks.length; i++)
    all += i === 0 ? answer(body.checks[i], 'brief') : `,${answer(body.checks[i], 'brief')}`
  return `${all}]}`
}

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const bytes = chunks.length === 1 ? /** @type {Buffer} */ (chunks[0]) : Buffer.concat(chunks)
    const text = answerBody(JSON.parse(bytes.toString('utf8')))
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    })
    response.end(text)
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`Listening for http on http://127.0.0.1:${port}`)
})
