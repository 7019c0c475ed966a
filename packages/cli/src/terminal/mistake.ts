// What the caller of a command got wrong: a flag, a policy or a log. A message for people, without a stack.

/** Ends a command with exit code 1 and its message. */
export class Mistake extends Error {}
