// What is wrong with a log or with what was said about it: a message for people, without a stack.

/** Ends a command with exit code 1 and its message. */
export class LogError extends Error {}
