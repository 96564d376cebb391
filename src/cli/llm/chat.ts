import { defined } from '../../defined.ts'
import { runEpisodes } from '../../llm/agent/turn-loop.ts'
import type { Episode, Task, ToolSession, ToolEnvironment } from '../../llm/agent/types.ts'
import type { SamplingWeights } from '../../llm/sampling/quantised-weights.ts'
import type { ToolResult } from '../../llm/tool/tool.ts'
import type { TrainingPlan } from '../../llm/training/types.ts'
import type { Console } from '../shared/console.ts'
import { createLineReader } from './line-reader.ts'
import type { LineReader } from './line-reader.ts'
import { limitsFor, openModel } from './model-option.ts'
import type { OpenedModel } from './model-option.ts'
import { openEnvironment } from './open-environment.ts'
import type { EnvironmentOptions } from './open-environment.ts'

export interface ChatCommand extends EnvironmentOptions {
  model?: string
  seed?: number
  temperature?: number
  constrained?: boolean
  samplingWeights?: SamplingWeights
  apiKeyEnv?: string
  timeout?: number
  yes?: boolean
}

/**
 * `agoge chat`: sends requests to a model that acts on a live server. Every request is an episode of its own, as in
 * training; the state stays until `/new`. Before a call that may change something, the user is asked. If the input is
 * not a terminal, every line is a request, and such calls need `--yes`.
 */
export async function runChat(command: ChatCommand, terminal: Console): Promise<void> {
  const { seed, temperature, constrained, samplingWeights, apiKeyEnv, timeout } = command
  const wanted = { train: 0, validation: 0, test: 24, 'unseen-paraphrase': 0 }
  const opened = await openEnvironment(
    command,
    { seed: seed ?? 0, yes: command.yes === true, wanted },
    terminal,
  )
  const { signal } = terminal
  const lines = createLineReader(signal)
  try {
    const { maxTokensPerTurn } = opened.plan
    const model = await openModel(
      command.model,
      {
        seed,
        temperature,
        maxTokensPerTurn,
        ...(samplingWeights && { samplingWeights }),
        ...defined({ constrained, apiKeyVariable: apiKeyEnv, timeoutSeconds: timeout }),
      },
      terminal,
    )
    try {
      terminal.err(introduction(model, opened.environment, opened.tasks.kinds))
      const confirmWrites = command.yes !== true
      if (confirmWrites && !lines.interactive)
        terminal.err('The input is not a terminal: calls that may change something need --yes.')
      await converse({ ...opened, model, lines, confirmWrites, terminal })
    } finally {
      await model.dispose()
    }
    signal.throwIfAborted()
  } finally {
    lines.close()
    await opened.environment.close()
  }
}

interface Conversation {
  environment: ToolEnvironment
  heldOut: (split: Task['split'], count: number) => Task[]
  plan: TrainingPlan
  model: OpenedModel
  lines: LineReader
  confirmWrites: boolean
  terminal: Console
}

async function converse(conversation: Conversation): Promise<void> {
  const { environment, heldOut, terminal } = conversation
  const suggestions = heldOut('test', 24)
  for (let round = 0; ; round++) {
    const task = suggestions[round % suggestions.length]
    const session = await environment.open(task, { signal: terminal.signal })
    try {
      terminal.err(`\nA fresh state. Try (Enter sends it): ${task.prompt}`)
      const next = await playRound(conversation, session, task)
      if (next === 'end') return
    } finally {
      await session.close()
    }
    if (terminal.signal.aborted) return
  }
}

async function playRound(
  conversation: Conversation,
  session: ToolSession,
  task: Task,
): Promise<'new' | 'end'> {
  const { lines, terminal, model, plan } = conversation
  let suggestion: string | null = task.prompt
  for (let turn = 0; ; turn++) {
    const line = await lines.ask('\n> ')
    if (line === null || line.trim() === '/quit') return 'end'
    if (line.trim() === '/new') return 'new'
    const prompt: string | null = line.trim() === '' ? suggestion : line.trim()
    if (prompt === null) continue
    suggestion = null
    const request = { ...task, id: `${task.id}/chat/${turn}`, prompt }
    const [episode] = await runEpisodes(
      [{ id: request.id, group: request.id, task: request }],
      model.actor,
      watched(conversation, session),
      // No deadline while a person decides.
      { ...limitsFor(model, plan.limits), deadlineSeconds: Infinity, toolDeadlineSeconds: 3600 },
      { signal: terminal.signal },
    )
    terminal.out(lastWords(episode))
  }
}

/** Wraps the environment around one session that stays open. Shows its calls and asks before writes. */
function watched(
  { environment, lines, confirmWrites, terminal }: Conversation,
  session: ToolSession,
): ToolEnvironment {
  const reads = new Set(
    environment.tools.filter(({ annotations }) => annotations?.readOnlyHint === true).map(({ name }) => name),
  )
  const kept: ToolSession = {
    ...session,
    async call(name, args, options): Promise<ToolResult> {
      terminal.err(`  ${name}(${JSON.stringify(args)})`)
      if (confirmWrites && !reads.has(name)) {
        const allowed = await lines.confirm('  This may change something. Carry it out? [y/N] ')
        if (!allowed) {
          if (!lines.interactive) terminal.err('  not carried out: it may change something (--yes allows it)')
          return { text: 'error: the user did not allow this call', isError: true }
        }
      }
      const result = await session.call(name, args, options)
      terminal.err(`  ${result.isError ? 'error: ' : ''}${result.text.replaceAll('\n', '\n  ')}`)
      return result
    },
    judge: () => Promise.resolve(null),
    close: () => Promise.resolve(),
  }
  return { ...environment, open: () => Promise.resolve(kept), close: () => Promise.resolve() }
}

function lastWords(episode: Episode): string {
  const last = episode.nodes.at(-1)
  if (episode.ending === 'answered' && last?.role === 'assistant')
    return last.text === '' ? '(done)' : last.text
  if (episode.ending === 'turn-limit' || episode.ending === 'token-limit') return '(the model came to no end)'
  return `(stopped: ${episode.error ?? episode.ending})`
}

function introduction(model: OpenedModel, environment: ToolEnvironment, kinds: readonly string[]): string {
  return [
    `${model.name} on ${environment.name}.`,
    ...knowledge(model, environment.name),
    `  ${kinds.join(', ')}`,
    'Every request is taken by itself. /new gives a fresh state, /quit ends.',
  ].join('\n')
}

/** The introduction; the kinds of tasks of the environment follow. */
function knowledge({ remote, trainedOn }: OpenedModel, environment: string): string[] {
  if (remote) return ['Requests that can be checked here are of these kinds:']
  const wrong = 'It will answer other requests with confidence, and wrongly.'
  if (trainedOn === environment)
    return [`The model is small and knows only what it was trained for. ${wrong} It was trained for:`]
  return [
    trainedOn === undefined
      ? 'This is a base model: it has been trained on no environment yet, and will hardly do anything right (agoge train).'
      : `The model was trained on ${trainedOn}, not on ${environment}: expect little of it here.`,
    'Requests of this environment are of these kinds:',
  ]
}
