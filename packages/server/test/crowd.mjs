// A crowd in a process of its own: connections that say nothing, and others that send one byte now and then.
// Started with a port and two numbers; prints `open` when all are there, then `closed <how many>` as they are cut.
import { connect } from 'node:net'

const [port = 0, idle = 0, slow = 0] = process.argv.slice(2).map(Number)
let closed = 0
let open = 0
/** @type {import('node:net').Socket[]} */
const sockets = []

/** @param {number} i */
const join = (i) =>
  new Promise((resolve) => {
    // Several addresses, since each has ports for no more than some ten thousand connections.
    const localAddress = `127.0.0.${2 + (i % 4)}`
    const socket = connect({ port, host: '127.0.0.1', localAddress }, () => {
      open++
      resolve(undefined)
    })
    socket.on('error', () => resolve(undefined))
    socket.on('close', () => closed++)
    socket.resume()
    if (i < slow) {
      socket.write('POST /v1/check HTTP/1.1\r\nHost: x\r\nX-Slow: ')
      sockets.push(socket)
    }
  })

for (let i = 0; i < idle + slow; i += 200)
  await Promise.all(Array.from({ length: Math.min(200, idle + slow - i) }, (_, n) => join(i + n)))
console.log(`open ${open}`)
const drip = setInterval(() => {
  for (const socket of sockets) if (socket.writable) socket.write('x')
}, 200)
const tell = setInterval(() => console.log(`closed ${closed}`), 200)
process.on('disconnect', () => process.exit())
process.stdin.on('end', () => {
  clearInterval(drip)
  clearInterval(tell)
  process.exit()
})
process.stdin.resume()
