// What advice depends on: five questions, each with its accepted answers and the default without one.

/** One question. */
export interface Question {
  readonly name: string
  readonly text: string
  /** Accepted answers, and what each means. */
  readonly answers: Readonly<Record<string, string>>
  readonly assumed: string
}

/** All questions, in the order in which they are asked; each is a flag of the same name. */
export const QUESTIONS = {
  avoid: {
    name: 'avoid',
    text: 'What must not happen?',
    answers: {
      overload: 'too much is let through',
      refusals: 'good traffic is refused',
    },
    assumed: 'refusals',
  },
  callers: {
    name: 'callers',
    text: 'Who calls?',
    answers: {
      people: 'people with browsers and apps: short bursts, then nothing',
      sdks: 'programs that honour Retry-After',
      jobs: 'batch jobs: long and even',
    },
    assumed: 'people',
  },
  exact: {
    name: 'exact',
    text: 'How exact must the limit be?',
    answers: {
      yes: 'never one request more in any window, as in a contract',
      no: 'a short excess does no harm',
    },
    assumed: 'no',
  },
  processes: {
    name: 'processes',
    text: 'How many processes enforce it?',
    answers: {
      one: 'one',
      fleet: 'several, and they share the limit',
    },
    assumed: 'one',
  },
  violation: {
    name: 'violation',
    text: 'What does a request beyond the limit cost?',
    answers: {
      little: 'little: somewhat more load',
      much: 'much: money, or an outage',
    },
    assumed: 'little',
  },
} as const satisfies Record<string, Question>

/** The name of a question. */
export type QuestionName = keyof typeof QUESTIONS

/** An answer to every question. */
export type Answers = {
  readonly [Name in QuestionName]: keyof (typeof QUESTIONS)[Name]['answers']
}

/** The answer that a string means: its name, its beginning, or its number from 1; undefined if it is no answer. */
export function answerFor(question: Question, text: string): string | undefined {
  const names = Object.keys(question.answers)
  const given = text.trim().toLowerCase()
  if (given === '') return question.assumed
  return names[Number(given) - 1] ?? names.find((name) => name.startsWith(given))
}
