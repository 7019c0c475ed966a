// Writes an access log in the combined format: many clients of very different activity over one day, the same each time.
import { closeSync, openSync, writeSync } from 'node:fs'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'python-requests/2.32.3',
]

/**
 * Writes `lines` lines to a file.
 * @param {string} file
 * @param {number} lines
 * @param {number} [clients]
 */
export function generate(file, lines, clients = 100_000) {
  let seed = 1
  const random = () => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
  const start = Date.UTC(2026, 4, 17)
  const descriptor = openSync(file, 'w')
  let stamp = ''
  let stampedAt = -1
  let text = ''
  for (let i = 0; i < lines; i++) {
    const second = Math.floor((i / lines) * 86_400)
    if (second !== stampedAt) {
      const date = new Date(start + second * 1000)
      const time = date.toISOString().slice(11, 19)
      stamp = `${date.getUTCDate()}/${MONTHS[date.getUTCMonth()]}/${date.getUTCFullYear()}:${time} +0000`
      stampedAt = second
    }
    // Few clients make most requests.
    const client = Math.floor(random() ** 3 * clients)
    const ip = `${10 + (client >> 16)}.${(client >> 8) & 255}.${client & 255}.${(client * 7) & 255}`
    const status = random() < 0.01 ? 404 : 200
    const path = `/articles/${Math.floor(random() * 10_000)}/comments?page=${i % 10}`
    text += `${ip} - - [${stamp}] "GET ${path} HTTP/1.1" ${status} ${1000 + (i % 9000)} "https://example.com/articles" "${AGENTS[client & 3]}"\n`
    if (text.length > 1 << 20) {
      writeSync(descriptor, text)
      text = ''
    }
  }
  writeSync(descriptor, text)
  closeSync(descriptor)
}
