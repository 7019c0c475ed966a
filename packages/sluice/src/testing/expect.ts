// Assertions for the public test kit, without a test runner.

/** Throws an Error that shows both values unless they are the same as JSON. */
export function expectEqual(got: unknown, expected: unknown, what: string): void {
  const [gotText, expectedText] = [JSON.stringify(got), JSON.stringify(expected)]
  if (gotText !== expectedText) throw new Error(`${what}: got ${gotText}, expected ${expectedText}`)
}
