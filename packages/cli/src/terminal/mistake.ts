// Mistakes in the use of a command: a flag, a policy, a log or the name of a file. Shown as a message without a stack.

/** Ends a command with exit code 1 and its message. */
export class Mistake extends Error {}

/** Ends a command with exit code 2 and its message: a file cannot be read. */
export class Unreadable extends Error {}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
}

/** One sentence about a file that could not be read. */
export function unreadable(file: string, error: unknown): Unreadable {
  const { code = '', message } = error as NodeJS.ErrnoException
  return new Unreadable(`${file}: cannot be read: ${REASONS[code] ?? message}`, { cause: error })
}
