// Other names for the usual attributes: those of headers, of proxies, and of objects in programs.
import { USUAL_ATTRIBUTES } from '../config/unmet-conditions.ts'

const ALIASES: Readonly<Record<string, string>> = {
  userid: 'user',
  username: 'user',
  uid: 'user',
  tenantid: 'tenant',
  apitoken: 'apiKey',
  ipaddress: 'ip',
  ipaddr: 'ip',
  addr: 'ip',
  clientip: 'ip',
  clientaddress: 'ip',
  realip: 'ip',
  remoteip: 'ip',
  remoteaddr: 'ip',
  remoteaddress: 'ip',
  binaryremoteaddr: 'ip',
  sourceip: 'ip',
  forwardedfor: 'ip',
  httpmethod: 'method',
  requestmethod: 'method',
  verb: 'method',
  hostname: 'host',
  planname: 'plan',
}

/** The usual attribute that another name means: `ip` for `$remote_addr`, `apiKey` for `req.headers.x-api-key`. */
export function aliasOf(name: string): string | undefined {
  const plain = name
    .toLowerCase()
    .replace(/^(?:req|request|ctx)\.(?:headers?\.)?/, '')
    .replace(/^(?:headers?\.|http_|x-)+/, '')
    .replaceAll(/[^a-z]/g, '')
  if (Object.hasOwn(ALIASES, plain)) return ALIASES[plain]
  return USUAL_ATTRIBUTES.find((usual) => usual.toLowerCase() === plain)
}
