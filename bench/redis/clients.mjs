// The Redis clients, each connected before it is handed out. Without options they are as their makers ship them.

/** @param {string} url @param {object} [options] */
export async function ioredis(url, options) {
  const { Redis } = await import('ioredis')
  const client = new Redis(url, { ...options, lazyConnect: true })
  await client.connect()
  return client
}

/** @param {string} url @param {object} [options] */
export async function iovalkey(url, options) {
  const { Redis } = await import('iovalkey')
  const client = new Redis(url, { ...options, lazyConnect: true })
  await client.connect()
  return client
}

/** @param {string} url @param {object} [options] */
export async function nodeRedis(url, options) {
  const { createClient } = await import('redis')
  return createClient({ ...options, url }).connect()
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
