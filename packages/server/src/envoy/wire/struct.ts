// google.protobuf.Struct: JSON as protobuf says it.
import type { WireWriter } from './writer.ts'

/** What may stand in metadata. */
export type Json = string | number | boolean | readonly Json[] | { readonly [name: string]: Json }

/** Writes the fields of a Struct; the message around them is the caller's. */
export function writeStruct(writer: WireWriter, struct: { readonly [name: string]: Json }): void {
  for (const [name, value] of Object.entries(struct)) {
    const entry = writer.open(1)
    writer.text(1, name)
    const start = writer.open(2)
    writeValue(writer, value)
    writer.close(start)
    writer.close(entry)
  }
}

function writeValue(writer: WireWriter, value: Json): void {
  if (typeof value === 'number') return writer.double(2, value)
  if (typeof value === 'string') return writer.textEvenEmpty(3, value)
  if (typeof value === 'boolean') return writer.flag(4, value)
  const isList = isArray(value)
  const start = writer.open(isList ? 6 : 5)
  if (isList) {
    for (const item of value) {
      const place = writer.open(1)
      writeValue(writer, item)
      writer.close(place)
    }
  } else writeStruct(writer, value)
  writer.close(start)
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
