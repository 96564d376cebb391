import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { addChat, addEval, addPlay } from './commands/evaluate.ts'
import { addConvert, addDoctor, addEnvs, addPapers } from './commands/inspect.ts'
import { addExport, addServe } from './commands/serve.ts'
import { addPretrain, addTrain, addTrainOffline } from './commands/train.ts'
import type { Console } from './shared/console.ts'
import { rootHelp } from './shared/help.ts'

/**
 * Defines the commands and their options. The code of a command is loaded when it runs, so that help and errors are
 * immediate.
 *
 * @param done receives the exit code.
 */
export function createProgram(terminal: Console, commandLine: string, done: (code: number) => void): Command {
  const program = new Command('agoge')
    .description('Reinforcement learning for agents: classic RL and language models with tools.')
    .version(version(), '-V, --version')
    .option('--debug', 'show stack traces')
    .configureHelp({ formatHelp: (command, helper) => rootHelp(command, helper) })
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
    })
    .exitOverride()
    .showHelpAfterError('(agoge --help shows all commands)')
    .showSuggestionAfterError()

  const context = { program, terminal, commandLine, done }
  const inTheOrderOfHelp = [
    addTrain,
    addEval,
    addChat,
    addPlay,
    addServe,
    addExport,
    addTrainOffline,
    addPretrain,
    addEnvs,
    addPapers,
    addConvert,
    addDoctor,
  ]
  for (const add of inTheOrderOfHelp) add(context)
  return program
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
