// `sluice promote`: replaces the rule's limit with its candidate, or enforces a shadow rule, in the file.
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { PromotionError, promoteRule, reviewText } from '@sluice/server'
import { Mistake } from '../terminal/mistake.ts'
import { print, type Streams } from '../terminal/streams.ts'

/** The options of the command. */
export interface PromoteFlags {
  readonly policy?: string
  readonly dryRun?: boolean
}

/** Changes the file, or prints it with `--dry-run`. Comments, order and form stay. */
export async function promote(
  file: string,
  rule: string,
  flags: PromoteFlags,
  { stdout }: Streams,
): Promise<number> {
  const { text, change } = promotedIn(readFileSync(file, 'utf8'), rule, flags.policy)
  const { problems } = reviewText(text, file)
  if (problems.length > 0)
    throw new Mistake(`the changed file would have mistakes: ${problems[0]!.message}`)
  if (flags.dryRun === true) stdout.write(text)
  else {
    // Written beside it and renamed, so that a service that watches the file never reads half of it.
    const part = `${file}.promote`
    writeFileSync(part, text, { mode: statSync(file).mode })
    renameSync(part, file)
    print(stdout, change)
  }
  return 0
}

function promotedIn(text: string, rule: string, policy: string | undefined) {
  try {
    return promoteRule(text, rule, policy)
  } catch (error) {
    if (error instanceof PromotionError) throw new Mistake(error.message)
    throw error
  }
}
