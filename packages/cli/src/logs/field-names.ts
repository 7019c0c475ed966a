// The names that logs give to what a limiter wants to know, so that most logs need no mapping.

/** For each attribute the fields that may hold it, the most telling first. Dots go into objects. */
export const FIELD_NAMES: Readonly<Record<string, readonly string[]>> = {
  time: [
    'time',
    'timestamp',
    '@timestamp',
    'ts',
    'time_local',
    'time_iso8601',
    'msec',
    'start_time',
    'datetime',
    'date',
    'at',
  ],
  ip: [
    'ip',
    'remote_addr',
    'remote_ip',
    'client_ip',
    'clientip',
    'clientIp',
    'remoteAddr',
    'remoteIp',
    'client',
    'request.client_ip',
    'request.remote_ip',
    'request.remote_addr',
    'downstream_remote_address',
    'downstream_direct_remote_address',
    'client.ip',
    'host',
  ],
  user: ['user', 'user_id', 'userId', 'username', 'remote_user', 'user.id', 'user.name'],
  apiKey: ['apiKey', 'api_key', 'request.headers.X-Api-Key.0', 'http_x_api_key'],
  tenant: ['tenant', 'tenant_id', 'tenantId'],
  method: ['method', 'request_method', 'http_method', 'request.method', 'verb'],
  path: ['path', 'uri', 'request_uri', 'url', 'request.uri', 'request.url'],
  request: ['request', 'request_line'],
  route: ['route', 'route_name'],
  status: ['status', 'status_code', 'statusCode', 'response', 'response_code', 'code'],
  userAgent: [
    'userAgent',
    'user_agent',
    'agent',
    'http_user_agent',
    'useragent',
    'request.headers.User-Agent.0',
  ],
}

/** The value at a path such as `request.headers.X-Api-Key.0`; a field that has the whole path as its name wins. */
export function at(record: unknown, path: string): unknown {
  const whole = own(record, path)
  if (whole !== undefined || !path.includes('.')) return whole
  let value: unknown = record
  for (const step of path.split('.')) {
    value = own(value, step)
    if (value === undefined) return undefined
  }
  return value
}

function own(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

/** The paths to all values of a record that are no objects, at most `most`, for messages. */
export function pathsIn(record: unknown, most = 40, prefix = ''): string[] {
  if (typeof record !== 'object' || record === null) return []
  const paths: string[] = []
  for (const [name, value] of Object.entries(record)) {
    if (paths.length >= most) break
    const path = prefix + name
    if (typeof value === 'object' && value !== null)
      for (const inner of pathsIn(value, most - paths.length, `${path}.`)) paths.push(inner)
    else paths.push(path)
  }
  return paths
}
