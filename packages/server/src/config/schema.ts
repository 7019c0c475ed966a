// Checks the shape of the file around the policies.
import { fieldNamed, fieldsAt } from './shape/fields.ts'
import type { Outline } from './config.ts'
import { file, fileBesideOthers } from './shape/file.ts'

/** One mistake in the shape. */
export interface OutlineIssue {
  readonly path: readonly PropertyKey[]
  /** What is accepted there, or for an unknown field which are known. */
  readonly accepted: string
  /** Those that may have been meant. */
  readonly names: readonly string[]
  readonly unknownField: boolean
}

/** Checks the shape; `store` must be in its long form. */
export function readOutline(
  value: unknown,
): { outline: Outline } | { issues: readonly OutlineIssue[] } {
  const shape = hasEnvoyFiles(value) ? fileBesideOthers : file
  const { success, data, error } = shape.safeParse(value, { reportInput: false })
  if (success) return { outline: { ...data, proxy: { headers: data.headers, ...data.proxy } } }
  const issues = error.issues.flatMap((issue): OutlineIssue[] => {
    const { path } = issue
    if (issue.code !== 'unrecognized_keys') {
      const names = issue.code === 'invalid_value' ? issue.values.map(String) : []
      return [{ path, accepted: issue.message, names, unknownField: false }]
    }
    const names = fieldsAt(shape, path)
    const accepted = names.join(', ')
    return issue.keys.map((key) => ({ path: [...path, key], accepted, names, unknownField: true }))
  })
  return { issues }
}

/** The right place of a field that was written in the wrong one; undefined if no field has that name. */
export function placeOfField(name: string): string | undefined {
  return fieldNamed(file, name)
}

function hasEnvoyFiles(value: unknown): boolean {
  const { envoy } = (value ?? {}) as { envoy?: { files?: unknown } | null }
  return Array.isArray(envoy?.files) && envoy.files.length > 0
}
