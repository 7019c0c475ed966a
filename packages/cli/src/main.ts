#!/usr/bin/env node
// The `sluice` command: parses the arguments and calls one function for each command. A command loads its code when it is called.
import { program, type Command } from 'commander'
import { QUESTIONS } from './advice/answers.ts'
import type { AdviseFlags } from './commands/advise.ts'
import type { DiffFlags } from './commands/diff.ts'
import type { BenchFlags } from './commands/bench.ts'
import type { PlaygroundFlags } from './commands/playground.ts'
import type { ImportFlags } from './commands/import.ts'
import { SOURCES } from './import/imported.ts'
import type { ReplayFlags } from './commands/replay.ts'
import type { SimulateFlags } from './commands/simulate.ts'
import type { ServeOptions } from './commands/serve.ts'
import { addOperatorVerbs } from './operate/add-verbs.ts'
import { runCommand } from './terminal/run-command.ts'
import type { TopOptions } from './top/top.ts'
import { version } from './version.ts'

program
  .name('sluice')
  .description(
    'Rate limits from one policy file: choose them on your own traffic, check and serve them.',
  )
  .version(version)
  .showHelpAfterError('Try sluice --help.')

program
  .command('serve')
  .description(
    'serve the decisions of a policy file over HTTP and gRPC; a changed file is reloaded',
  )
  .argument(
    '[file]',
    "the configuration, YAML or JSON; not needed with the environment variables of Envoy's own rate limit service",
  )
  .option(
    '--upstream <url>',
    'act as a reverse proxy too: limit requests and pass them on to this server',
  )
  .option('--no-banner', 'print nothing on standard output')
  .option('--no-watch', 'reload the file on SIGHUP only')
  .option(
    '--workers <number>',
    "the number of processes that share the ports; 'auto' is one for each core (default: as in the file)",
  )
  .option(
    '--console',
    'serve the console on the admin port, and print a link that signs in to it once',
  )
  .option('--demo', 'send made-up traffic to the service for half an hour, to see it work')
  .action(async (file: string | undefined, options: ServeOptions) => {
    process.exitCode = await (await import('./commands/serve.ts')).serve(file, options)
    // Log lines that wait for a reader must not keep the process from ending.
    setTimeout(() => process.exit(), 1000).unref()
  })

program
  .command('check')
  .description('explain what a policy file means, and list its mistakes')
  .argument('<file>', 'the configuration, YAML or JSON')
  .option('--json', 'print the result as JSON')
  .option('--strict', 'exit with code 1 on warnings too')
  .addHelpText(
    'after',
    '\nExit code 0: valid. 1: the file has mistakes. 2: the file cannot be read.',
  )
  .action(async (file: string, options: { json?: boolean; strict?: boolean }) => {
    process.exitCode = await (await import('./commands/check.ts')).check(file, options)
  })

program
  .command('import')
  .description('convert the limits of another program to a policy file, and list the differences')
  .argument('<from>', `the program that the file is for: ${SOURCES.join(', ')}`)
  .argument('<file>', 'source code, or the configuration of the proxy')
  .option('--write', 'edit the source code instead, replacing their options with ours')
  .addHelpText(
    'after',
    '\nExit code 0: printed. 1: the file has no limits that can be read. 2: the file cannot be read.',
  )
  .action((from: string, file: string, flags: ImportFlags) =>
    runCommand(async (streams) =>
      (await import('./commands/import.ts')).importCommand(from, file, flags, streams),
    ),
  )

program
  .command('top')
  .description('show what a running service decides, once a second, until Ctrl+C')
  .argument('[url]', 'the address of its HTTP API', 'http://127.0.0.1:8080')
  .option('--admin <url>', 'the address of its admin API', 'http://127.0.0.1:8089')
  .option('--token-file <file>', 'a file with a token of the admin API (or SLUICE_ADMIN_TOKEN)')
  .option('--once', 'show one second and exit')
  .option('--timeout <duration>', 'how long the service may take for one answer', '2s')
  .option('--json', 'print one JSON object a second')
  .addHelpText('after', '\nExit code 0, or 1 when the service is unreachable.')
  .action(async (url: string, options: TopOptions) => {
    process.exitCode = await (await import('./top/top.ts')).top(url, options)
  })

withLogOptions(
  program
    .command('replay')
    .description('decide the requests of access logs again, under the limits that you want to try')
    .argument('[log...]', 'log files, plain, gzip or zstd (default, and for -: standard input)'),
)
  .option('--by <attributes>', 'what tells clients apart, such as ip, user or ip,route', 'ip')
  .option('--try <limits>', 'limits to try, such as 10/min,30/min,100/h')
  .option('--algorithm <names>', "algorithms to try them with, or 'all' (default: token-bucket)")
  .option('--policy <file>', 'try the policy of this file instead, as the service would apply it')
  .option('--use <name>', 'the policy to use, when the file has several')
  .option('--json', 'print the result as JSON')
  .option('--html <file>', 'write a report with charts: one file, no network needed')
  .option('--show-keys', 'show clients by their keys instead of hashes')
  .addHelpText(
    'after',
    `
Examples:
  sluice replay access.log --try 10/min,30/min,60/min
  sluice replay access.log* --by user --map user=user.id --try 100/min --algorithm all --html report.html
  zcat old.gz | sluice replay --policy sluice.yaml

Exit code 0: done. 1: a flag, the policy or the log is wrong. 2: a file cannot be read. 130: stopped by Ctrl+C.`,
  )
  .action((logs: string[], flags: ReplayFlags) =>
    runCommand(async (streams) =>
      (await import('./commands/replay.ts')).replayCommand(logs, flags, streams),
    ),
  )

withLogOptions(
  program
    .command('diff')
    .description('explain what changes between two policy files, and for whom in a log')
    .argument('<old>', 'the current configuration')
    .argument('<new>', 'the changed configuration'),
)
  .option('--against <log...>', 'decide the requests of these logs by both')
  .option('--use <name>', 'the policy to compare on the log, when there are several')
  .option('--by <attributes>', 'what tells clients apart', 'ip')
  .option('--json', 'print the result as JSON')
  .option('--show-keys', 'show clients by their keys instead of hashes')
  .addHelpText(
    'after',
    '\nExit code 0: compared. 1: a flag, a policy or the log is wrong. 2: a file cannot be read.',
  )
  .action((before: string, after: string, flags: DiffFlags) =>
    runCommand(async (streams) =>
      (await import('./commands/diff.ts')).diffCommand(before, after, flags, streams),
    ),
  )

program
  .command('simulate')
  .description('run traffic, a fleet and its faults from a scenario file, on virtual time')
  .argument('<scenario>', 'the scenario, YAML or JSON')
  .option('--algorithm <names>', "algorithms to compare, or 'all' (default: as in the file)")
  .option('--mode <names>', "modes to compare, or 'all' (default: as in the file)")
  .option('--pods <number>', 'how many processes decide (default: as in the file)')
  .option('--seed <number>', 'repeats every random choice (default: as in the file, or 1)')
  .option('--json', 'print the result as JSON')
  .option('--html <file>', 'write a report with charts: one file, no network needed')
  .addHelpText(
    'after',
    '\nExit code 0: done. 1: the scenario is wrong, or a bound was broken. 2: a file cannot be read.',
  )
  .action((file: string, flags: SimulateFlags) =>
    runCommand(async (streams) =>
      (await import('./commands/simulate.ts')).simulateCommand(file, flags, streams),
    ),
  )

program
  .command('bench')
  .description('measure decisions per second with your policy, on memory, your Redis or a service')
  .argument('[file]', 'the configuration with the policy (default: 100/min for each key)')
  .option('--store <url>', 'a Redis to measure too, such as redis://127.0.0.1:6379')
  .option('--service <url>', 'a running service to measure instead of this process')
  .option('--use <name>', 'the policy to use, when the file has several')
  .option('--modes <names>', 'on a Redis: strict, leased, synced, local, auto (default: all)')
  .option('--seconds <number>', 'how long each target is measured, at most 60', '3')
  .option('--keys <number>', 'how many keys the requests have', '1000')
  .option('--zipf <number>', 'how unequal the keys are; 0 makes them equal', '1')
  .option('--concurrency <number>', 'requests in flight at the same time', '64')
  .option('--yes', 'do not ask before a store is used that holds other keys')
  .option('--json', 'print the result as JSON')
  .addHelpText(
    'after',
    `
Keys of the measurement have a prefix of their own and are removed afterwards.

Exit code 0: done. 1: a flag or the policy is wrong, the store is unreachable, or you said no. 2: a file cannot be read. 130: stopped by Ctrl+C.`,
  )
  .action((file: string | undefined, flags: BenchFlags) =>
    runCommand(async (streams) =>
      (await import('./commands/bench.ts')).benchCommand(file, flags, streams),
    ),
  )

program
  .command('playground')
  .description('open a page that shows every algorithm on traffic of your choice')
  .option('--port <number>', 'the port on 127.0.0.1; 0 is any free one', '8090')
  .addHelpText(
    'after',
    '\nServes one page on loopback until Ctrl+C. Logs that you drop on the page never leave it.',
  )
  .action((flags: PlaygroundFlags) =>
    runCommand(async (streams) =>
      (await import('./commands/playground.ts')).playgroundCommand(flags, streams),
    ),
  )

withAnswers(
  withLogOptions(
    program
      .command('advise')
      .description('advise on algorithm, limit, key and failure mode, and write a sluice.yaml')
      .argument('[log...]', 'logs to take the numbers from'),
  ),
).action((logs: string[], flags: AdviseFlags) =>
  runCommand(async (streams) =>
    (await import('./commands/advise.ts')).adviseCommand(logs, flags, streams),
  ),
)

withAnswers(
  program
    .command('init')
    .description('write a sluice.yaml to start with: the short form of advise, with two questions'),
).action((flags: AdviseFlags) =>
  runCommand(async (streams) =>
    (await import('./commands/advise.ts')).adviseCommand([], flags, streams, [
      'callers',
      'processes',
    ]),
  ),
)

addOperatorVerbs(program)

await program.parseAsync()

/** The answers to the questions of `advise` as flags, and where the file goes. */
function withAnswers(command: Command): Command {
  for (const { name, text, answers } of Object.values(QUESTIONS))
    command.option(`--${name} <answer>`, `${text} ${Object.keys(answers).join(', ')}`)
  return command
    .option('--by <attribute>', 'what tells clients apart, such as ip, user or apiKey', 'ip')
    .option('--window <duration>', 'the window of the limit', '1min')
    .option('--touch <share>', 'with a log: the share of clients that the limit may refuse', '1%')
    .option('--out <file>', 'the file to write; - is standard output', 'sluice.yaml')
    .option('--force', 'replace the file if it exists')
    .option('--json', 'print the advice as JSON')
    .addHelpText(
      'after',
      `
On a terminal, questions without a flag are asked; elsewhere the defaults are assumed and named.

Exit code 0: written. 1: a flag or the log is wrong, or the file exists. 2: a file cannot be read or written.`,
    )
}

/** The options of every command that reads logs. */
function withLogOptions(command: Command): Command {
  return command
    .option('--format <name>', 'the format of the log (default: found from its first lines)')
    .option(
      '--map <attribute=field>',
      'the field of the log that holds an attribute; may be given several times',
      (pair: string, pairs?: string[]) => [...(pairs ?? []), pair],
    )
    .option('--from <time>', 'leave out requests before this time, such as 2026-05-17T10:00')
    .option('--to <time>', 'leave out requests from this time on')
    .option(
      '--reorder <duration>',
      'how late a line may be and still be put in order (default: 1h)',
    )
    .option('--arrival', 'subtract the duration of a request from its time, where the log has both')
}
