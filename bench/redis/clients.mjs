// The Redis clients, each connected before it is handed out and otherwise as its maker ships it.

/** @param {string} url */
export async function ioredis(url) {
  const { Redis } = await import('ioredis')
  const client = new Redis(url, { lazyConnect: true })
  await client.connect()
  return client
}

/** @param {string} url */
export async function iovalkey(url) {
  const { Redis } = await import('iovalkey')
  const client = new Redis(url, { lazyConnect: true })
  await client.connect()
  return client
}

/** @param {string} url */
export async function nodeRedis(url) {
  const { createClient } = await import('redis')
  return createClient({ url }).connect()
}

/** @param {string} url */
export async function valkeyGlide(url) {
  const { GlideClient } = await import('@valkey/valkey-glide')
  const { hostname, port } = new URL(url)
  return GlideClient.createClient({
    addresses: [{ host: hostname, port: Number(port) }],
    requestTimeout: 10_000,
  })
}
