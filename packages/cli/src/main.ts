#!/usr/bin/env node
// The `sluice` command: parses the arguments and calls one function for each command.
import { program, type Command } from 'commander'
import { check } from './commands/check.ts'
import { replayCommand, type ReplayFlags } from './commands/replay.ts'
import { serve, type ServeOptions } from './commands/serve.ts'
import { runCommand } from './terminal/run-command.ts'
import { top, type TopOptions } from './top/top.ts'
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
    "the configuration, YAML or JSON; not needed in the environment of Envoy's own rate limit service",
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
  .action(async (file: string | undefined, options: ServeOptions) => {
    process.exitCode = await serve(file, options)
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
    process.exitCode = await check(file, options)
  })

program
  .command('top')
  .description('show what a running service decides, once a second, until Ctrl+C')
  .argument('[url]', 'the address of its HTTP API', 'http://127.0.0.1:8080')
  .option('--admin <url>', 'the address of its admin API', 'http://127.0.0.1:8089')
  .option('--token-file <file>', 'a file with a token of the admin API (or SLUICE_ADMIN_TOKEN)')
  .option('--once', 'show one second and exit')
  .option('--json', 'print one JSON object a second')
  .addHelpText('after', '\nExit code 0, or 1 when the service is unreachable.')
  .action(async (url: string, options: TopOptions) => {
    process.exitCode = await top(url, options)
  })

withLogOptions(
  program
    .command('replay')
    .description(
      'decide about the requests of access logs again, under limits that you want to try',
    )
    .argument('[log...]', 'log files, plain, gzip or zstd; - or nothing is standard input'),
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
    runCommand((streams) => replayCommand(logs, flags, streams)),
  )

await program.parseAsync()

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
