// A gRPC server, limited by user and by address through one interceptor.
// After `npm run build`, `node examples/grpc/server.js` runs it.
import { pathToFileURL } from 'node:url'
import { Server, ServerCredentials, ServerInterceptingCall } from '@grpc/grpc-js'
import { createLimiter } from 'sluice'
import { rateLimit } from 'sluice/http/grpc'
import { greeter } from './greeter.js'

/** Starts the server and gives it with its port. @param {number} port @returns {Promise<{ server: Server, port: number }>} */
export function start(port) {
  const limiter = createLimiter({
    policy: {
      name: 'greeter',
      rules: [
        { name: 'user', by: ['user'], limit: '5/10s' },
        { name: 'anonymous', when: { user: 'absent' }, by: ['ip'], limit: '2/10s' },
      ],
    },
  })
  const interceptor = rateLimit(ServerInterceptingCall, limiter, {
    user: (call) => call.header('x-user'), // in earnest: what an interceptor before this one has verified
  })
  const server = new Server({ interceptors: [interceptor] })
  server.addService(greeter, {
    /** @type {import('@grpc/grpc-js').handleUnaryCall<string, string>} */
    greet: ({ request }, done) => done(null, `Hello, ${request}.`),
  })
  return new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve({ server, port: bound })
      else reject(error)
    })
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { port } = await start(Number(process.env['PORT'] ?? 50_051))
  console.log(`Listening on 127.0.0.1:${port}. Ctrl+C ends it.`)
}
