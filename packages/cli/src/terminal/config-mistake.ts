// What ends a command whose configuration is wrong.
import { problemText, type ConfigProblem } from '@sluice/server'
import { Mistake, Unreadable } from './mistake.ts'

/** What is wrong with a configuration: {@link Unreadable} if its file could not be read at all. */
export function configMistake(problems: readonly ConfigProblem[]): Error {
  const text = problems.map(problemText).join('\n')
  const isUnread = problems.some(({ message }) => message.startsWith('cannot be read'))
  return isUnread ? new Unreadable(text) : new Mistake(text)
}
