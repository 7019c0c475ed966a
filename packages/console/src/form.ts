// Reads the fields of a form.

/** The text of a field; '' when the form has none of that name. */
export function fieldOf(form: EventTarget | null, name: string): string {
  const value = new FormData(form as HTMLFormElement).get(name)
  return typeof value === 'string' ? value : ''
}
