#!/usr/bin/env node
// The `sluice` command: parses the arguments and hands over to one file for each command.
import { program } from 'commander'
import { check } from './check.ts'
import { serve, type ServeOptions } from './serve.ts'
import { top, type TopOptions } from './top/top.ts'
import { version } from './version.ts'

program
  .name('sluice')
  .description('Rate limits from one policy file: serve decisions, and check what a file means.')
  .version(version)
  .showHelpAfterError('Try sluice --help.')

program
  .command('serve')
  .description(
    'serve the decisions of a policy file over HTTP and gRPC; the file may change meanwhile',
  )
  .argument(
    '[file]',
    "the configuration, YAML or JSON; not needed in the environment of Envoy's own rate limit service",
  )
  .option(
    '--upstream <url>',
    'be a reverse proxy too: limit requests and hand them on to this server',
  )
  .option('--no-banner', 'say nothing on standard output')
  .option('--no-watch', 'read the file again on SIGHUP only')
  .option(
    '--workers <number>',
    "how many processes share the ports; 'auto' is one for each core (default: what the file says)",
  )
  .action(async (file: string | undefined, options: ServeOptions) => {
    process.exitCode = await serve(file, options)
  })

program
  .command('check')
  .description('say what a policy file means, and what is wrong with it')
  .argument('<file>', 'the configuration, YAML or JSON')
  .option('--json', 'print the result as JSON')
  .option('--strict', 'end with 1 on warnings too')
  .addHelpText('after', '\nEnds with 0, with 1 for a mistake, with 2 when the file cannot be read.')
  .action(async (file: string, options: { json?: boolean; strict?: boolean }) => {
    process.exitCode = await check(file, options)
  })

program
  .command('top')
  .description('show what a running service decides, once a second; Ctrl+C ends it')
  .argument('[url]', 'where the HTTP API of the service listens', 'http://127.0.0.1:8080')
  .option('--admin <url>', 'where its admin API listens', 'http://127.0.0.1:8089')
  .option('--token-file <file>', 'a file with a token of the admin API (or SLUICE_ADMIN_TOKEN)')
  .option('--once', 'show one second and end')
  .option('--json', 'print one JSON object a second')
  .addHelpText('after', '\nEnds with 0, with 1 when the service cannot be reached.')
  .action(async (url: string, options: TopOptions) => {
    process.exitCode = await top(url, options)
  })

await program.parseAsync()
