import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { joinEnds } from './tunnel.ts'

/** Both ends of a connection; neither ends because the other does. */
async function connection(): Promise<readonly [near: Socket, far: Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const [near] = (await once(server, 'connection')) as [Socket]
  onTestFinished(() => {
    near.destroy()
    far.destroy()
    server.close()
  })
  return [near, far]
}

it.each(['client', 'upstream'])(
  'a tunnel whose %s has gone ends, although the other stays',
  async (gone) => {
    const [nearClient, client] = await connection()
    const [nearUpstream, upstream] = await connection()
    const head = Buffer.alloc(0)
    const ended = new Promise<void>((resolve) =>
      joinEnds({ socket: nearClient, head }, { socket: nearUpstream, head }, 60_000, resolve, 20),
    )
    client.write('to and')
    expect(String((await once(upstream, 'data'))[0])).toBe('to and')
    upstream.write('fro')
    expect(String((await once(client, 'data'))[0])).toBe('fro')
    const [leaving, staying] = gone === 'client' ? [client, upstream] : [upstream, client]
    // It reads that the other has ended, and ends nothing itself.
    staying.resume()
    leaving.end('last')
    await ended
    expect([nearClient.destroyed, nearUpstream.destroyed]).toEqual([true, true])
  },
)
