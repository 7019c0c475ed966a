// A stand-in for an LLM API: streams a few words and tells its usage at the end, as OpenAI does.
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'

const WORDS = ['Water', ' finds', ' its', ' level', '.']

/**
 * Starts the API. Resolves with the server once it listens.
 * @param {number} port
 * @returns {Promise<import('node:http').Server>}
 */
export function startUpstream(port = 8090) {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    for (const content of WORDS)
      response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
    const usage = {
      prompt_tokens: 120,
      completion_tokens: 40,
      total_tokens: 160,
      prompt_tokens_details: { cached_tokens: 100 },
    }
    response.write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await startUpstream()
  console.log('the API listens on http://127.0.0.1:8090')
}
