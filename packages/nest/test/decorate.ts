// Decorators without their syntax, in the order in which TypeScript applies them.

type AnyDecorator = (
  target: never,
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<never>,
) => unknown

/** Decorates a class. */
export function decorateClass(target: object, ...decorators: ClassDecorator[]): void {
  for (const decorator of decorators.toReversed()) decorator(target as never)
}

/** Decorates a method. */
export function decorateMethod(
  { prototype }: { readonly prototype: object },
  name: string,
  ...decorators: AnyDecorator[]
): void {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name)
  for (const decorator of decorators.toReversed())
    decorator(prototype as never, name, descriptor as never)
}
