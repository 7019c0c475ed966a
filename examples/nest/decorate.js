// Decorators without their syntax, since this example is plain JavaScript.

/**
 * Decorates a class and its methods, in the order in which TypeScript does.
 * @param {Function} target
 * @param {ClassDecorator[]} ofClass
 * @param {Record<string, MethodDecorator[]>} [ofMethods]
 */
export function decorate(target, ofClass, ofMethods = {}) {
  const { prototype } = target
  for (const [name, decorators] of Object.entries(ofMethods)) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name)
    for (const decorator of decorators.toReversed()) decorator(prototype, name, descriptor ?? {})
  }
  for (const decorator of ofClass.toReversed()) decorator(target)
}
