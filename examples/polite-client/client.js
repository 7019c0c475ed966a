// Calls a limited API and is never refused for long: `node client.js <address> <number of requests>`.
import { adaptive, polite } from 'sluice/client'

const [address = 'http://127.0.0.1:3000', count = '12'] = process.argv.slice(2)

// adaptive stays below the server's limit; polite waits and tries again where that was not enough.
const send = polite(adaptive(), {
  onRetry: ({ status, wait }) => console.log(`${status}, again in ${wait} ms`),
})

const requests = Array.from({ length: Number(count) }, async (_, i) => {
  const response = await send(address)
  console.log(`request ${i + 1}: ${response.status}`)
})
await Promise.all(requests)
