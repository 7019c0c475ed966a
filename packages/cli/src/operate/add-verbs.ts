// The commands of operators, as the command line names them. Each loads its code when it is called.
import type { Command } from 'commander'
import { runCommand } from '../terminal/run-command.ts'
import { completion } from './completion.ts'
import type { PromoteFlags } from './promote.ts'
import type { VerbFlags } from './verbs.ts'

const EXIT =
  '\nExit code 0: done. 1: the service refused, or is unreachable. 2: a file cannot be read.'

/** Adds every command that talks to the admin API, and those around them. */
export function addOperatorVerbs(program: Command): void {
  const verb = (name: string, about: string): Command =>
    program
      .command(name)
      .description(about)
      .option('--admin <url>', 'the address of the admin API', 'http://127.0.0.1:8089')
      .option('--token-file <file>', 'a file with a token of the admin API (or SLUICE_ADMIN_TOKEN)')
      .option('--json', 'print the answer as JSON')
      .addHelpText('after', EXIT)
  const onSubject = (name: string, about: string): Command =>
    verb(name, about)
      .argument('<attribute...>', 'the attributes of the key, such as user=42')
      .option('--policy <name>', 'the policy, when there are several')

  verb('why', 'explain why a key, or one refused request, was refused')
    .argument('<asked...>', 'attributes such as user=42, or a decision id')
    .option('--policy <name>', 'only this policy')
    .action((asked: string[], flags: VerbFlags) =>
      runCommand(async (streams) => (await import('./verbs.ts')).why(asked, flags, streams)),
    )
  verb('keys', 'show the keys of each rule that are refused most, busiest, or at zero')
    .option('--policy <name>', 'only this policy')
    .option('--rule <name>', 'only rules of this name')
    .action((flags: VerbFlags) =>
      runCommand(async (streams) => (await import('./verbs.ts')).keys(flags, streams)),
    )
  onSubject('ask', 'ask what every rule would answer now, without charging anything')
    .option('--cost <units>', 'the cost of the request')
    .action((pairs: string[], flags: VerbFlags) =>
      runCommand(async (streams) => (await import('./verbs.ts')).ask(pairs, flags, streams)),
    )
  onSubject('block', 'refuse every request with these attributes for a time')
    .option('--for <duration>', 'how long, from 1s to 30d', '1h')
    .option('--note <text>', 'the reason, shown by sluice why')
    .action((pairs: string[], flags: VerbFlags) =>
      runCommand(async (streams) => (await import('./verbs.ts')).block(pairs, flags, streams)),
    )
  onSubject('unblock', 'end a block').action((pairs: string[], flags: VerbFlags) =>
    runCommand(async (streams) => (await import('./verbs.ts')).unblock(pairs, flags, streams)),
  )
  onSubject('reset', 'forget what was counted for a key')
    .option('--rule <name>', 'only this rule')
    .action((pairs: string[], flags: VerbFlags) =>
      runCommand(async (streams) => (await import('./verbs.ts')).reset(pairs, flags, streams)),
    )
  verb('grant', 'hand units back to a key, up to full')
    .argument('<units>', 'how many')
    .argument('<attribute...>', 'the attributes of the key, such as user=42')
    .option('--policy <name>', 'the policy, when there are several')
    .option('--rule <name>', 'only this rule')
    .action((units: string, pairs: string[], flags: VerbFlags) =>
      runCommand(async (streams) =>
        (await import('./verbs.ts')).grant(units, pairs, flags, streams),
      ),
    )
  verb('override', 'set another limit for some requests of a rule, or remove it')
    .argument('<rule>', 'the name of the rule')
    .argument('<limit-and-attributes...>', 'such as 500/min user=42; with --remove only user=42')
    .option('--policy <name>', 'the policy, when there are several')
    .option('--for <duration>', 'how long (default: until it is removed)')
    .option('--note <text>', 'the reason, shown by sluice why')
    .option('--remove', 'remove the override instead')
    .action((rule: string, args: string[], flags: VerbFlags) =>
      runCommand(async (streams) =>
        (await import('./verbs.ts')).override(rule, args, flags, streams),
      ),
    )
  verb('shadow', 'show what limits on trial and shadow rules would change').action(
    (flags: VerbFlags) =>
      runCommand(async (streams) => (await import('./verbs.ts')).shadow(flags, streams)),
  )
  verb('doctor', 'check a running service for the most common problems').action(
    (flags: VerbFlags) =>
      runCommand(async (streams) => (await import('./doctor.ts')).doctor(flags, streams)),
  )
  program
    .command('promote')
    .description("replace the rule's limit with the one on trial, or enforce a shadow rule")
    .argument('<rule>', 'the name of the rule')
    .argument('[file]', 'the configuration, whose comments are kept', 'sluice.yaml')
    .option('--policy <name>', 'the policy, when several have such a rule')
    .option('--dry-run', 'print the changed file instead of writing it')
    .action((rule: string, file: string, flags: PromoteFlags) =>
      runCommand(async (streams) =>
        (await import('./promote.ts')).promote(file, rule, flags, streams),
      ),
    )
  program
    .command('completion')
    .description('print a script that completes commands in your shell')
    .argument('<shell>', 'bash, zsh or fish')
    .action((shell: string) =>
      runCommand(async ({ stdout }) => {
        stdout.write(completion(program, shell))
        return 0
      }),
    )
}
