// Asks the service in the same container whether it is alive, and ends with 0 when it is.
import http from 'node:http'
import https from 'node:https'

const port = process.env['SLUICE_HTTP_PORT'] ?? '8080'
const url = process.env['SLUICE_HEALTH_URL'] ?? `http://127.0.0.1:${port}/healthz`
const { get } = url.startsWith('https:') ? https : http
// The certificate is for the name that clients use, not for this address.
get(url, { timeout: 2000, rejectUnauthorized: false }, (response) => {
  response.resume()
  process.exit(response.statusCode === 200 ? 0 : 1)
})
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1))
