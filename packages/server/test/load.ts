// A load of many keep-alive connections that notices every answer it is owed and does not get.
import { Agent, request } from 'node:http'

/** What a load has seen. */
interface LoadResult {
  answered: number
  /** Requests that were sent, or begun to be, and not answered with 200. */
  readonly faults: string[]
  /** Connections that were refused because nobody listens any more: nothing was sent. */
  refused: number
}

/** A load that runs until it is told to stop, or nobody listens any more. */
export interface Load {
  readonly result: LoadResult
  stop(): Promise<LoadResult>
}

/** Checks one key after the other over some connections, one request at a time on each. */
export function startLoad(url: string, connections: number): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const result: LoadResult = { answered: 0, faults: [], refused: 0 }
  let running = true
  const worker = async (id: number): Promise<void> => {
    for (let i = 0; running; i++) {
      const { status, error } = await post(agent, `${url}/v1/check`, { key: `${id}-${i % 50}` })
      if (status === 200) result.answered++
      else if (error === 'ECONNREFUSED') {
        result.refused++
        return
      } else result.faults.push(error ?? String(status))
    }
  }
  const workers = Array.from({ length: connections }, (_, id) => worker(id))
  return {
    result,
    async stop() {
      running = false
      await Promise.all(workers)
      agent.destroy()
      return result
    },
  }
}

function post(
  agent: Agent,
  url: string,
  body: object,
): Promise<{ status?: number; error?: string }> {
  return new Promise((resolve) => {
    const text = JSON.stringify(body)
    const headers = { 'content-type': 'application/json', 'content-length': text.length }
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve({ status: response.statusCode ?? 0 }))
      response.on('error', (error: NodeJS.ErrnoException) => resolve({ error: `${error.code}` }))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ error: error.code ?? 'unknown' }))
    sent.end(text)
  })
}
