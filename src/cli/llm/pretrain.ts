import { existsSync, readdirSync, statSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join, resolve, dirname } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { readCheckpoint } from '../../llm/checkpoint/checkpoint.ts'
import { smallConfig, type TransformerConfig } from '../../llm/model/config.ts'
import { parameterLayout } from '../../llm/model/parameters.ts'
import type { CorpusStage } from '../../llm/pretraining/corpus/conversation.ts'
import { modelCard } from '../../llm/pretraining/model-card.ts'
import type { StageFacts } from '../../llm/pretraining/model-card.ts'
import { corpusTokenizer, pretrain } from '../../llm/pretraining/pretrain.ts'
import type { Pretrained, PretrainProgress } from '../../llm/pretraining/pretrain.ts'
import { type ModelSize, sizedConfig } from '../../llm/pretraining/sizes.ts'
import { withFileErrorsAsync, writeWhole, checkFolder } from '../../runs/files.ts'
import { count, duration } from '../../runs/report/format.ts'
import { readForeignObject } from '../../untrusted/foreign-file.ts'
import type { Console } from '../shared/console.ts'
import { createProgress } from '../shared/progress.ts'

/** Tokens of the base model's corpus, over its three stages. */
export const baseTokens = 87_000_000

interface StagePart {
  stage: CorpusStage
  /** Share of all tokens. */
  part: number
}

/**
 * The first stage trains the model; the second teaches it to choose tool calls; the third, to read and change records or, if it
 * shall read tool definitions, to use tools that only the prompt describes.
 */
const stagesOf = (readsTools: boolean): readonly StagePart[] =>
  readsTools
    ? [
        { stage: 'general', part: 3 / 10 },
        { stage: 'decisions', part: 1 / 10 },
        { stage: 'described', part: 6 / 10 },
      ]
    : [
        { stage: 'general', part: 20 / 87 },
        { stage: 'decisions', part: 5 / 87 },
        { stage: 'records', part: 62 / 87 },
      ]

// An estimate for two cores of a laptop. The command prints the measured speed as soon as it has one.
const expectedTokensPerSecond = 8_000

export interface PretrainCommand {
  out: string
  seed: number
  tokens: number
  resume?: boolean
  /** Default: 0.9M. */
  size?: ModelSize
  /** Tokens of the context window. Default: 1024. */
  context?: number
  /** Whether the model learns to read tool definitions in its prompts. Default: false. */
  readsTools?: boolean
  /** Minutes after which the call stops at a checkpoint, to be resumed. Default: no limit. */
  minutes?: number
}

/** Trains a base model from generated text in `out`. With `resume` it continues a stopped run. */
export async function runPretrain(command: PretrainCommand, terminal: Console): Promise<void> {
  const { minutes } = command
  if (minutes === undefined) return trainStages(command, terminal)
  const limit = AbortSignal.timeout(minutes * 60_000)
  try {
    await trainStages(command, { ...terminal, signal: AbortSignal.any([terminal.signal, limit]) })
  } catch (error) {
    if (!limit.aborted || terminal.signal.aborted || error !== limit.reason) throw error
    terminal.out(`stopped after ${minutes} minutes; to continue: ${commandLine(command)} --resume`)
  }
}

/** The options that decide on the model, as they were given. */
function commandLine({
  out,
  seed,
  tokens,
  size,
  context,
  readsTools,
  minutes,
}: Omit<PretrainCommand, 'out'> & { out?: string }): string {
  return [
    'agoge pretrain',
    ...(out === undefined ? [] : [`--out ${out}`]),
    `--seed ${seed} --tokens ${tokens}`,
    ...(size === undefined ? [] : [`--size ${size}`]),
    ...(context === undefined ? [] : [`--context ${context}`]),
    ...(readsTools === true ? ['--tools'] : []),
    ...(minutes === undefined ? [] : [`--minutes ${minutes}`]),
  ].join(' ')
}

async function trainStages(command: PretrainCommand, terminal: Console): Promise<void> {
  const { seed, tokens, resume = false, size, context, readsTools = false } = command
  const config = sizedConfig(size, context)
  const stages = stagesOf(readsTools)
  const wanted = { seed, tokens, ...defined({ size, context }), ...(readsTools ? { readsTools } : {}) }
  const out = resolve(command.out)
  checkModelFolder(out, resume)
  const relative = parameterLayout(config).size / parameterLayout(smallConfig).size
  terminal.err(
    `Pretraining on ${count(tokens)} tokens of generated text: about ${duration((tokens * relative) / expectedTokensPerSecond)} on two cores.`,
  )
  const progress = createProgress(terminal.progress)
  try {
    const facts: StageFacts[] = []
    for (const [at, { stage, part }] of stages.entries()) {
      const last = at === stages.length - 1
      const checkpoints = join(out, 'checkpoints', stage)
      const finished = join(out, 'checkpoints', `${stage}-finished`)
      const earlier = resume ? finishedStage(finished, wanted) : undefined
      if (earlier !== undefined) {
        facts.push(earlier)
        continue
      }
      const from =
        at === 0 ? undefined : await startOf(join(out, 'checkpoints', `${stages[at - 1].stage}-finished`))
      progress.event({ type: 'phase', name: 'pretrain', total: null })
      const made = await withFileErrorsAsync(checkpoints, () =>
        pretrain({
          seed,
          stage,
          ...(at > 0 ? {} : newModel(config, seed, readsTools ? stages : [])),
          tokens: Math.round(tokens * part),
          resume:
            resume &&
            (existsSync(join(checkpoints, 'config.json')) || existsSync(join(checkpoints, 'cursor.json'))),
          out: checkpoints,
          signal: terminal.signal,
          onProgress: showing(progress),
          onSkills: (scores, at) => progress.line(`${count(at)} tokens: ${skills(scores)}`),
          ...defined({ from }),
        }),
      )
      try {
        const { tokens: taken, steps, seconds, loss } = made
        facts.push({ stage, tokens: taken, steps, seconds, loss })
        // Half precision keeps the published model under 4 MB. The next stage starts from the published weights.
        await withFileErrorsAsync(out, () => made.backend.export(last ? out : finished, 'F16'))
        if (last) writeWhole(join(out, 'README.md'), card(command, made, facts))
        else writeWhole(join(finished, 'facts.json'), `${JSON.stringify({ ...wanted, taken: facts[at] })}\n`)
      } finally {
        await made.backend.dispose()
      }
      progress.line(
        `${stage}: ${count(made.tokens)} tokens in ${duration(made.seconds)}, loss ${made.loss.toFixed(3)}`,
      )
      if (last) {
        progress.close()
        terminal.out(`${out}: ${skills(made.skills)}`)
      }
    }
  } finally {
    progress.close()
  }
}

/**
 * The duration of a stage that an earlier command finished.
 *
 * @throws AgogeError if that command had other options.
 */
function finishedStage(folder: string, wanted: Readonly<Record<string, unknown>>): StageFacts | undefined {
  const file = join(folder, 'facts.json')
  if (!existsSync(file)) return undefined
  const { taken, ...given } = readForeignObject(file, 'bad-run-folder') as { taken: StageFacts }
  const said = (options: object): string =>
    Object.entries(options)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')
  if (said(given) === said(wanted)) return taken
  throw new AgogeError('the finished stage is of another pretraining', {
    code: 'checkpoint-mismatch',
    given: said(given),
    expected: said(wanted),
    hint: `use the same settings, or start anew with another folder than ${folder}`,
  })
}

/** The architecture of a first stage. A model that reads tools has a vocabulary made from all of its stages. */
function newModel(config: TransformerConfig, seed: number, stages: readonly StagePart[]) {
  const names = stages.map(({ stage }) => stage)
  return names.length === 0
    ? { config }
    : { config, tokenizer: corpusTokenizer(seed, config.vocab_size, undefined, names) }
}

async function startOf(folder: string) {
  const { config, parameters, tokenizer } = await readCheckpoint(folder)
  if (tokenizer !== undefined) return { config, parameters, tokenizer }
  throw new AgogeError(`${folder} has no tokenizer`, {
    code: 'bad-checkpoint',
    expected: 'the model that the stage before has made',
    hint: 'Begin anew with another --out.',
  })
}

function showing(progress: ReturnType<typeof createProgress>): (at: PretrainProgress) => void {
  return (at) => {
    const perStep = at.tokens / at.step
    progress.event({
      type: 'step',
      phase: 'pretrain',
      step: at.step,
      total: Math.ceil(at.totalTokens / perStep),
      seconds: at.seconds,
      metrics: {
        loss: at.loss,
        tokensPerSecond: at.tokensPerSecond,
        ...defined({ gradientNorm: at.gradientNorm }),
      },
    })
  }
}

/** How the model was made does not depend on where it lies and in how many pieces it was made. */
function withoutPlace(command: PretrainCommand): Omit<PretrainCommand, 'out'> {
  const { out: _, minutes: _minutes, ...rest } = command
  return rest
}

function card(command: PretrainCommand, made: Pretrained, taken: readonly StageFacts[]): string {
  return modelCard({
    name: 'Agoge base model',
    command: commandLine(withoutPlace(command)),
    seed: command.seed,
    config: made.backend.config,
    parameters: made.backend.parameters.layout.size,
    stages: taken,
    machine: `${availableParallelism()} cores of ${cpus()[0]?.model ?? 'an unknown processor'}`,
    skills: made.skills,
    skillCount: 100,
  })
}

function skills(scores: Partial<Record<string, number>>): string {
  return Object.entries(scores)
    .map(([name, value]) => `${name} ${Math.round((value ?? 0) * 100)}%`)
    .join(', ')
}

/** Files that a folder may contain when a model replaces it. */
const ownFiles =
  /^(?:\.agoge-probe-\d+|README\.md|checksums\.sha256|(?:config|state|tokenizer|tokenizer_config)\.json|(?:model|optimizer)\.safetensors)$/
const ownCheckpoints = /^(?:general|decisions|records|described)(?:-finished(?:\.writing|\.before)?)?$/

/**
 * Checks, before hours of work, that a model can be written to the folder. A finished model replaces the whole folder.
 * So the folder may contain nothing else, its parent must be writable, and it must not be a mount point.
 *
 * @param folder absolute path.
 * @throws AgogeError with the folder.
 */
export function checkModelFolder(folder: string, resume: boolean): void {
  if (!resume && existsSync(join(folder, 'model.safetensors'))) {
    throw new AgogeError(`${folder} already holds a model.`, {
      code: 'model-exists',
      given: folder,
      expected: 'a folder without a model',
      hint: 'Choose another folder with --out.',
    })
  }
  checkFolder(folder)
  if (!existsSync(folder)) return
  const stranger = strangerIn(folder)
  if (stranger !== undefined) {
    throw new AgogeError(`${folder} holds other things than a model: ${stranger}`, {
      code: 'folder-not-empty',
      given: folder,
      expected: 'a new or empty folder, for the model takes the place of all that is in it',
      hint: 'Choose another folder with --out.',
    })
  }
  if (statSync(folder).dev !== statSync(dirname(folder)).dev) {
    throw new AgogeError(`${folder} is a mount point, which cannot be replaced by a model.`, {
      code: 'unusable-path',
      given: folder,
      expected: 'a folder that can be renamed',
      hint: `Choose a folder in it: --out ${join(folder, 'model')}`,
    })
  }
  checkFolder(dirname(folder))
}

function strangerIn(folder: string): string | undefined {
  const names = readdirSync(folder)
  const stranger = names.find((name) => name !== 'checkpoints' && !ownFiles.test(name))
  if (stranger !== undefined || !names.includes('checkpoints')) return stranger
  const inner = readdirSync(join(folder, 'checkpoints')).find((name) => !ownCheckpoints.test(name))
  return inner === undefined ? undefined : join('checkpoints', inner)
}
