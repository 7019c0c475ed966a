// Compares answers with what spec/openapi.json says of them.
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'

interface Spec {
  readonly paths: Record<string, Record<string, { responses: Record<string, Described> }>>
  readonly components: {
    readonly responses: Record<string, Described>
    readonly headers: Record<string, DescribedHeader>
  }
}
interface Described {
  readonly $ref?: string
  readonly content?: Record<string, object>
  readonly headers?: Record<string, { readonly $ref: string }>
}
interface DescribedHeader {
  readonly required: boolean
  readonly schema: object
}

const file = new URL('../../../spec/openapi.json', import.meta.url)
export const spec: Spec = JSON.parse(readFileSync(file, 'utf8')) as Spec
const ajv = new Ajv2020({ strict: false })
ajv.addSchema(spec, 'spec')

function describedAt(path: string, method: string, status: string): Described {
  const described = spec.paths[path]![method]!.responses[status]!
  return described.$ref === undefined
    ? described
    : spec.components.responses[described.$ref.split('/').at(-1)!]!
}

/** The pointer to the schema of a response, as ajv wants it. */
function schemaFor(path: string, method: string, status: string, type: string): string {
  const { $ref } = spec.paths[path]![method]!.responses[status]!
  const part = (text: string) =>
    encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))
  const base = $ref ?? `#/paths/${part(path)}/${method}/responses/${status}`
  return `spec${base}/content/${part(type)}/schema`
}

/** In what a response is not as described; nothing when it is. */
export async function differences(
  response: Response,
  path: string,
  method: string,
  status: string,
): Promise<unknown> {
  if (String(response.status) !== status) return `it is ${response.status}`
  const { content, headers = {} } = describedAt(path, method, status)
  for (const [name, { $ref }] of Object.entries(headers)) {
    const { required, schema } = spec.components.headers[$ref.split('/').at(-1)!]!
    const value = response.headers.get(name)
    // A header is text, whatever it counts.
    const fits = [value, Number(value)].some((it) => ajv.validate(schema, it))
    if (value === null ? required : !fits) return `${name} is ${value}`
  }
  const text = await response.text()
  const type = response.headers.get('content-type')
  if (content === undefined) return text === '' && type === null ? undefined : `it says ${text}`
  if (type === null || !Object.hasOwn(content, type)) return `its type is ${type}`
  const validate = ajv.getSchema(schemaFor(path, method, status, type))!
  return validate(type.startsWith('text/') ? text : JSON.parse(text)) ? undefined : validate.errors
}
