// Texts of conditions and tiers that are words of another language, or that no route or host looks like: no request has them.

/** Words for "with any value" and "without a value" elsewhere. */
const WORDS: Readonly<Record<string, string>> = {
  any: 'present',
  none: 'absent',
  null: 'absent',
  undefined: 'absent',
}

/** Why a word of a condition is probably not meant as a value, and what to write. `{ equals }` is meant literally. */
export function mistakenWord(text: string): string | undefined {
  const word = text.toLowerCase()
  if (!Object.hasOwn(WORDS, word)) return undefined
  return `it is compared as text; write ${WORDS[word]}, or { equals: ${JSON.stringify(text)} } if requests have this value`
}

/** Whether the name of a tier suggests that it is meant as the default. */
export function looksLikeDefault(tier: string): boolean {
  return /^(?:default|else|otherwise|fallback|others?|any|everyone|_|\.\*)$/i.test(tier)
}

/** Why a string is probably meant as a pattern of SQL or of a shell, which it is not here; undefined if it is not. */
export function mistakenGlob(text: string): string | undefined {
  // %NAME% is a variable of another language, which has a warning of its own.
  if (/^%[A-Z][A-Z\d_]*%$/.test(text)) return undefined
  const stem = /^%?([A-Za-z][\w-]*)[?%]$/.exec(text)?.[1]
  if (stem === undefined) return undefined
  return `${text.endsWith('?') ? '?' : '%'} is no wildcard here; write ${JSON.stringify(`${stem}*`)} for every value with that prefix, or { equals: ${JSON.stringify(text)} }`
}

/** Why a string cannot be a route or a host; undefined if it can, and for other attributes. */
export function mistakenPlace(attribute: string, text: string): string | undefined {
  if (attribute === 'route') return mistakenRoute(text)
  return attribute === 'host' ? mistakenHost(text) : undefined
}

const METHOD = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|ANY|ALL)\s+(?=\/)/i

function mistakenRoute(text: string): string | undefined {
  const method = METHOD.exec(text)
  if (method !== null)
    return `a route has no method; write route: ${JSON.stringify(text.slice(method[0].length))} and method: ${method[1]!.toUpperCase()}, or { equals: ${JSON.stringify(text)} } if callers send it so`
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) {
    const path = text.replace(/^[^:]*:\/\/[^/]*/, '').replace(/\?.*$/, '')
    return `a route is a path; write ${JSON.stringify(path === '' ? '/' : path)}`
  }
  // Some frameworks write an optional part as :id?
  if (/\?[\w.[\]-]+=/.test(text))
    return `a route has no query; write ${JSON.stringify(text.replace(/\?.*$/, ''))}`
  return undefined
}

function mistakenHost(text: string): string | undefined {
  const host = text
    .replace(/^[a-z][a-z\d+.-]*:\/\//i, '')
    .replace(/\/.*$/, '')
    // Clients leave out the usual ports, and send others.
    .replace(/:(?:80|443)$/, '')
    .toLowerCase()
  if (host === text || host === '') return undefined
  return `clients send hosts in lower case, without a scheme, a path or a usual port; write ${JSON.stringify(host)}`
}
