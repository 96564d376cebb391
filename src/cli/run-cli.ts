import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { parseOwnJson } from '../untrusted/own-json.ts'
import { addAudit, addChat, addDiff, addEval, addInit, addOptimise, addPlay } from './commands/evaluate.ts'
import { addJudge, addLabel } from './commands/judge.ts'
import { addConvert, addDoctor, addEnvs, addImport, addPapers, addTasks } from './commands/inspect.ts'
import { addExport, addGateway, addServe } from './commands/serve.ts'
import { addPretrain, addTrain, addTrainOffline } from './commands/train.ts'
import type { Console } from './shared/console.ts'
import { rootHelp } from './shared/help.ts'
import { visibleText } from '../untrusted/visible-text.ts'
import { describeError } from './shared/console.ts'

/** The reason of an abort by Ctrl-C or another signal. */
class Interrupted extends Error {
  constructor(signal: string) {
    super(`interrupted by ${signal}`)
    this.name = 'Interrupted'
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Exit code of an interrupted command, by the convention of shells. */
const interruptedCode = 130

/**
 * Watches for Ctrl-C. The first one aborts, so that work can stop at a safe moment; the second exits at once. Servers
 * started by this process are killed when it exits.
 */
export function watchInterrupts(onFirst: () => void): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController()
  const listener = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(interruptedCode)
    onFirst()
    controller.abort(new Interrupted(name))
  }
  for (const name of signals) process.on(name, listener)
  return {
    signal: controller.signal,
    stop: () => {
      for (const name of signals) process.off(name, listener)
    },
  }
}

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
    addInit,
    addEval,
    addOptimise,
    addDiff,
    addLabel,
    addJudge,
    addTrain,
    addTrainOffline,
    addPretrain,
    addExport,
    addImport,
    addServe,
    addGateway,
    addAudit,
    addChat,
    addPlay,
    addEnvs,
    addTasks,
    addPapers,
    addConvert,
    addDoctor,
  ]
  for (const add of inTheOrderOfHelp) add(context)
  return program
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (parseOwnJson(readFileSync(file, 'utf8')) as { version: string }).version
}

/**
 * Runs a command line and prints its errors.
 *
 * @returns the exit code: 0, 1 for bad input or failure, 2 for a missed threshold, 130 after an interrupt.
 */
export async function runCli(words: readonly string[], given: Console): Promise<number> {
  const terminal = harmless(given)
  let code = 0
  const program = createProgram(terminal, ['agoge', ...words].join(' '), (exitCode) => {
    code = exitCode
  })
  try {
    // `--debug` is accepted before and after the command, so it is removed here.
    // `--sandbox` alone takes no value: the word after it may be the environment.
    await program.parseAsync(
      words
        .filter((word) => word !== '--debug')
        .map((word) => (word === '--sandbox' ? '--sandbox=here' : word)),
      { from: 'user' },
    )
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    if (!terminal.signal.aborted) {
      terminal.err(describeError(error, terminal.debug))
      return 1
    }
    if (terminal.debug && !(error instanceof Interrupted)) terminal.err(describeError(error, true))
    terminal.err('interrupted; what was finished is kept')
    return interruptedCode
  }
}

/**
 * Printed text may quote a server, a model or a file. Control sequences are removed so that it cannot steer the
 * terminal.
 */
function harmless(terminal: Console): Console {
  return {
    ...terminal,
    out: (text) => terminal.out(visibleText(text)),
    err: (text) => terminal.err(visibleText(text)),
  }
}
