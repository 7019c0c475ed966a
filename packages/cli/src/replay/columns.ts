// Columns of numbers by client, in typed arrays that grow by doubling: a million clients cost a few bytes each.

/** The array with room for index `size - 1`; the numbers that it holds stay. */
export function grown<A extends Uint8Array | Uint32Array | Int32Array | Float64Array>(
  array: A,
  size: number,
): A {
  if (size <= array.length) return array
  const Column = array.constructor as new (length: number) => A
  const larger = new Column(Math.max(size, array.length * 2, 1024))
  larger.set(array as never)
  return larger
}
