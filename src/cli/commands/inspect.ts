import { defined } from '../../defined.ts'
import type { CommandContext, Console } from '../shared/console.ts'
import { optionsOfServers, showHelpFor } from '../shared/help.ts'
import { wholeNumber, withEnvironment } from '../shared/options.ts'
import type { ImportCommand } from '../llm/import.ts'
import type { TasksCommand } from '../llm/tasks.ts'

// Options and help of agoge envs, tasks, papers, convert and doctor.

export function addEnvs({ program, terminal }: CommandContext): void {
  const envs = program
    .command('envs')
    .summary('list environments')
    .description('The environments of classic RL: spaces, context features, algorithms.')
    .argument('[environment]', 'show one, with the ranges of its context features')
    .option('--json', 'everything, for programs')
  showHelpFor(envs, { all: ['agoge envs', 'agoge envs cartpole'] })
  envs.action(async (environment: string | undefined, options: { json?: boolean }) => {
    const { runEnvs } = await import('../classic/envs.ts')
    await runEnvs({ ...options, ...defined({ environment }) }, terminal)
  })
}

export function addTasks({ program, terminal }: CommandContext): void {
  const tasks = withEnvironment(
    program
      .command('tasks')
      .summary('tasks of an MCP server')
      .description(
        'The tasks that are made of an MCP server: requests with their reference solutions, kinds and splits, what is left out and why, and how often agents that do not try solve them.',
      ),
  )
    .option('--count <n>', 'number of tasks', wholeNumber(1), 20)
    .option('--seed <n>', 'of the tasks', wholeNumber(0), 0)
    .option('--out <file>', 'write the tasks as JSONL, to edit and to use with --tasks of train and eval')
    .option('--from <file>', 'show and prove the tasks of a JSONL file instead')
    .option('--schema', 'print the JSON Schema of a line of such a file')
    .option(
      '--teacher <model>',
      'URL#NAME of an OpenAI-compatible endpoint that writes the requests again, in other styles',
    )
    .option(
      '--teacher-tokens <n>',
      'limit of the tokens of the teacher, in all requests (default: 200000)',
      wholeNumber(1),
    )
    .option('--api-key-env <name>', 'variable with the key of the endpoint (default: OPENAI_API_KEY)')
  const [environment] = tasks.registeredArguments
  environment.description = 'mcp:NAME for a server of .mcp.json'
  environment.default(environment.defaultValue, 'none')
  showHelpFor(
    tasks,
    {
      mcp: [
        'agoge tasks mcp:memory --sandbox',
        'agoge tasks mcp:memory --sandbox --count 300 --out tasks.jsonl',
      ],
      all: ['agoge tasks mcp:NAME --sandbox', 'agoge tasks mcp:NAME --sandbox --from tasks.jsonl'],
    },
    optionsOfServers('tasks'),
  )
  tasks.action(async (environment: string, options: Omit<TasksCommand, 'environment'>) => {
    const { runTasks } = await import('../llm/tasks.ts')
    await runTasks({ ...options, environment }, terminal)
  })
}

export function addImport({ program, terminal }: CommandContext): void {
  const imported = program
    .command('import')
    .summary('traces, chat logs')
    .description(
      'Make episodes of traces (OpenTelemetry, as OTLP/JSON) and chat logs (JSONL of {"messages": [...]}), and tasks of their requests.',
    )
    .argument('<files...>', 'files of traces or chat logs; their kind is recognised')
    .requiredOption('--out <file>', 'file of the episodes (JSONL)')
    .option(
      '--tasks <file>',
      'write tasks too (JSONL): one for each first request, in the format of agoge tasks',
    )
    .option(
      '--trust-answers',
      'the final answers are right: tasks expect them (default: tasks expect nothing)',
    )
    .option('--max-bad <n>', 'lines, spans and traces that may be unreadable', wholeNumber(0), 100)
  showHelpFor(imported, {
    all: [
      'agoge import traces.json --out episodes.jsonl',
      'agoge import chats.jsonl --out e.jsonl --tasks tasks.jsonl --trust-answers',
    ],
  })
  imported.action(async (files: string[], options: Omit<ImportCommand, 'files'>) => {
    const { runImport } = await import('../llm/import.ts')
    await runImport({ ...options, files }, terminal)
  })
}

interface PaperOptions {
  quick?: boolean
  workers?: number
  resume?: boolean
}

interface PaperPlanOptions {
  pilotSeeds?: number
  most?: number
  minutes?: number
  workers?: number
}

export function addPapers({ program, terminal, commandLine }: CommandContext): void {
  // Loaded when asked for: experiments are no part of the library.
  const openPapers = async (given: Console) => (await import('../papers.ts')).openPapers(given)
  const papers = program
    .command('papers')
    .summary('test published claims')
    .description('Experiments that put published claims to the test.')
    .helpCommand(false)
    .configureHelp({ helpWidth: 80 })
  const list = papers
    .command('list')
    .description('What there is, and what came of it.')
    .option('--json', 'as JSON')
  showHelpFor(list, { all: ['agoge papers list', 'agoge papers list --json'] })
  list.action(async (options: { json?: boolean }) => {
    const { listPapers, tools } = await openPapers(terminal)
    await listPapers(options, tools)
  })
  const plan = papers
    .command('plan')
    .argument('<id>', 'from `agoge papers list`')
    .description('Run a pilot, compute the seeds that the effect needs, write the plan.')
    .option('--pilot-seeds <n>', 'seeds of the pilot, from 101', wholeNumber(5), 12)
    .option('--most <n>', 'the most seeds of the plan', wholeNumber(12), 1000)
    .option('--minutes <n>', 'limit of the computing time, by that of the pilot', wholeNumber(1))
    .option('--workers <n>', 'processes at once (default: the number of cores)', wholeNumber(1))
  showHelpFor(plan, { all: ['agoge papers plan carl', 'agoge papers plan carl --minutes 30'] })
  plan.action(async (id: string, options: PaperPlanOptions) => {
    const { planPaperCommand, tools } = await openPapers(terminal)
    await planPaperCommand({ ...options, id, commandLine }, tools)
  })
  const run = papers
    .command('run')
    .argument('<id>', 'from `agoge papers list`')
    .description('Run every arm with every seed of its plan, give the verdict, keep the result.')
    .option('--quick', 'no plan, one seed and a small budget: shows only that it runs')
    .option('--workers <n>', 'processes at once (default: the number of cores)', wholeNumber(1))
    .option('--resume', 'go on after a stop, with the scores that were kept')
  showHelpFor(run, { all: ['agoge papers run carl --quick', 'agoge papers run carl --resume'] })
  run.action(async (id: string, options: PaperOptions) => {
    const { runPaperCommand, tools } = await openPapers(terminal)
    await runPaperCommand({ ...options, id, commandLine }, tools)
  })
  const report = papers
    .command('report')
    .description('A page with the effects and verdicts of all that were planned and run.')
    .option('--out <file>', 'where the page goes')
  showHelpFor(report, { all: ['agoge papers report', 'agoge papers report --out papers.html'] })
  report.action(async (options: { out?: string }) => {
    const { reportPapers, tools } = await openPapers(terminal)
    reportPapers(options, tools)
  })
}

export function addConvert({ program, terminal }: CommandContext): void {
  const convert = program
    .command('convert')
    .argument('<run>', 'a run folder')
    .summary('update runs of 0.1')
    .description('Rewrite a run of version 0.1 in the names of this version, so that it can be resumed.')
  showHelpFor(convert, {
    all: [
      'agoge convert .agoge/runs/RUN',
      'agoge convert .agoge/runs/RUN && agoge train --resume .agoge/runs/RUN',
    ],
  })
  convert.action(async (folder: string) => {
    const { convertRun } = await import('../../runs/convert.ts')
    const files = convertRun(folder)
    terminal.out(files.length === 0 ? `${folder} needs no conversion` : `${folder}: ${files.join(', ')}`)
  })
}

export function addDoctor({ program, terminal, done }: CommandContext): void {
  const doctor = program
    .command('doctor')
    .summary('check this machine')
    .description('Check what training needs, and say how to repair what is missing.')
  showHelpFor(doctor, { all: ['agoge doctor', 'AGOGE_RUNTIME=web agoge doctor'] })
  doctor.action(async () => {
    const { runDoctor } = await import('../doctor.ts')
    done(await runDoctor(terminal))
  })
}
