// Which fields a shape knows at some place in it.
import { z } from 'zod'

/** The names of the fields there; none where the shape has no object. */
export function fieldsAt(shape: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  return [...new Set(objectsAt(shape, path).flatMap((object) => Object.keys(object.shape)))]
}

/** The path of the first field of that name anywhere in a shape, such as `listeners.http.port` for `port`. */
export function fieldNamed(shape: z.core.$ZodType, name: string): string | undefined {
  const levels: { readonly path: string; readonly object: z.ZodObject }[] = objectsOf(shape).map(
    (object) => ({ path: '', object }),
  )
  for (let i = 0; i < levels.length; i++) {
    const { path, object } = levels[i]!
    if (Object.hasOwn(object.shape, name)) return `${path}${name}`
    for (const [member, inner] of Object.entries(object.shape))
      for (const one of objectsOf(inner)) levels.push({ path: `${path}${member}.`, object: one })
  }
  return undefined
}

function objectsAt(shape: z.core.$ZodType, path: readonly PropertyKey[]): readonly z.ZodObject[] {
  const objects = objectsOf(shape)
  const [step, ...rest] = path
  if (step === undefined) return objects
  return objects.flatMap((object) => {
    const { shape: members } = object
    return Object.hasOwn(members, step) ? objectsAt(members[String(step)]!, rest) : []
  })
}

/** What is left of a shape without its defaults and choices. */
function objectsOf(shape: z.core.$ZodType): readonly z.ZodObject[] {
  if (shape instanceof z.ZodObject) return [shape]
  if (shape instanceof z.ZodUnion) return shape.options.flatMap(objectsOf)
  const { innerType } = shape._zod.def as { innerType?: z.core.$ZodType }
  return innerType === undefined ? [] : objectsOf(innerType)
}
