import { cpSync, existsSync, statSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { exportOtel } from '../../llm/traces/export-otel.ts'
import { readEpisodes } from '../../llm/episode/codec.ts'
import { journalFile as evaluationJournal } from '../../llm/project/evaluation-store.ts'
import { meanTrialScore } from '../../llm/project/training/agent-program.ts'
import { exportOnnx } from '../../llm/model/export-onnx.ts'
import { readCheckpoint, writeCheckpoint } from '../../llm/checkpoint/checkpoint.ts'
import { requireModel } from '../../llm/backend/base-model.ts'
import { hashWeights } from '../../llm/adapter/lora.ts'
import { writeAdapter } from '../../llm/adapter/peft.ts'
import { taskReward } from '../../llm/reward/rewards.ts'
import {
  checkDatasetFile,
  type DatasetKind,
  type DatasetOptions,
  datasetRows,
  writeDataset,
} from '../../llm/training/datasets/datasets.ts'
import { checkFile, writeWhole } from '../../runs/files.ts'
import { reasoningReward } from '../../llm/environment/reasoning/environment.ts'
import { readForeignFile } from '../../untrusted/foreign-file.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import type { Console } from '../shared/console.ts'
import type { ExportKind, WeightType } from '../shared/options.ts'
import { findModel } from './model-option.ts'
import { listRuns, trainedModel, trainedEnvironment } from '../shared/runs.ts'

export interface ExportCommand {
  /** A run folder. For models also a checkpoint, for data sets also a file of episodes. */
  from?: string
  to: ExportKind
  out: string
  /** Weight type of a merged checkpoint or an adapter. */
  type?: WeightType
  /** Name of the base model in the adapter's config. */
  base?: string
  /** A file with the tools, in OpenAI's format. */
  tools?: string
  /** Traces with the messages. */
  content?: boolean
}

/**
 * `agoge export`: writes the trained model as a checkpoint, an adapter or an ONNX file, or a data set of the run's
 * episodes.
 */
export async function runExport(command: ExportCommand, terminal: Console): Promise<void> {
  const { to } = command
  refuseStrayOptions(command)
  if (to === 'merged') return exportMerged(command, terminal)
  if (to === 'lora') return exportAdapter(command, terminal)
  if (to === 'onnx') return exportModel(command, terminal)
  if (to === 'otel') return exportTraces(command, terminal)
  exportDataset({ ...command, to }, terminal)
}

function refuseStrayOptions({ to, type, base, tools, content }: ExportCommand): void {
  const stray = [
    ...(type !== undefined && to !== 'merged' && to !== 'lora' ? ['--type'] : []),
    ...(base !== undefined && to !== 'lora' ? ['--base'] : []),
    ...(tools !== undefined && to !== 'sft' && to !== 'dpo' ? ['--tools'] : []),
    ...(content === true && to !== 'otel' ? ['--content'] : []),
  ]
  if (stray.length === 0) return
  throw new AgogeError(`${stray.join(' and ')} mean nothing for --to ${to}.`, {
    code: 'bad-option',
    given: stray.join(' '),
    expected:
      '--type with --to merged or lora, --base with --to lora, --tools with --to sft or dpo, --content with --to otel',
  })
}

async function exportMerged({ from, out, type }: ExportCommand, { out: say }: Console): Promise<void> {
  const folder = newFolder(out)
  const { config, parameters, tokenizer, companions } = await readCheckpoint(
    requireModel(findModel(from).folder),
  )
  await writeCheckpoint(
    folder,
    {
      config,
      parameters,
      ...defined({ tokenizer, companions }),
      weightVersion: 0,
    },
    type,
  )
  say(`${folder}: ${parameters.layout.size} parameters, loads in transformers`)
}

async function exportAdapter(
  { from, out, type, base: given }: ExportCommand,
  { out: say }: Console,
): Promise<void> {
  const folder = newFolder(out)
  const { named, folder: found } = findModel(from)
  const { adapter, config, parameters } = await readCheckpoint(requireModel(found))
  if (adapter === undefined)
    throw new AgogeError(`${found} has no adapter: its training moved the weights themselves.`, {
      code: 'no-adapter',
      given: named,
      expected: 'a run of agoge train --lora RANK, or a checkpoint of one',
      hint: '--to merged exports the whole model',
    })
  // A checkpoint lies in the folder `checkpoints` of its run.
  const base = given ?? trainedModel(named) ?? trainedModel(join(named, '..', '..'))
  await writeAdapter(folder, adapter, {
    layers: config.num_hidden_layers,
    baseHash: hashWeights(parameters, adapter),
    ...defined({ base, type }),
  })
  const beneath = base ?? 'a model that its config does not name (--base NAME)'
  say(`${folder}: adapter of rank ${adapter.settings.rank} for ${beneath}, loads in PEFT`)
}

function newFolder(out: string): string {
  const folder = resolve(out)
  if (!existsSync(folder)) return folder
  throw new AgogeError(`${folder} is there already.`, {
    code: 'folder-not-empty',
    given: folder,
    expected: 'a folder that does not exist yet',
  })
}

async function exportModel({ from, out }: ExportCommand, { out: say }: Console): Promise<void> {
  if (extname(out) !== '.onnx') {
    throw new AgogeError(`${out} is no name for an ONNX file.`, {
      code: 'unknown-format',
      given: out,
      expected: 'a name that ends in .onnx',
    })
  }
  checkFile(out)
  const { folder } = findModel(from)
  const model = exportOnnx(await readCheckpoint(requireModel(folder)))
  writeWhole(out, model)
  const texts = join(folder, 'tokenizer.json')
  const beside = join(resolve(out, '..'), 'tokenizer.json')
  const copied = existsSync(texts) && !existsSync(beside)
  if (copied) cpSync(texts, beside)
  say(
    `${out}: ${(model.length / 1e6).toFixed(1)} MB, input_ids -> logits${copied ? ', with tokenizer.json beside it' : ''}`,
  )
}

function exportDataset(
  { from, to, out, tools }: ExportCommand & { to: DatasetKind },
  { out: say }: Console,
): void {
  checkDatasetFile(out)
  checkFile(out)
  const { file, run } = episodesFile(from)
  const episodes = readEpisodes(file)
  const rows = datasetRows(episodes, {
    kind: to,
    run: basename(resolve(run)),
    // The models of an evaluation have done the same tasks.
    ...(existsSync(join(run, evaluationJournal))
      ? { reward: meanTrialScore, pairs: 'task' }
      : { reward: rewardOf(run) }),
    ...(tools === undefined ? {} : { tools: readTools(tools) }),
  })
  if (rows.length === 0) {
    throw new AgogeError(`Of ${episodes.length} episodes none is of use for ${to}.`, {
      code: 'no-rows',
      given: file,
      expected: {
        sft: 'one that succeeded',
        dpo: 'two of one group with different rewards',
        grpo: 'one that was judged',
      }[to],
    })
  }
  writeDataset(out, rows)
  say(`${out}: ${rows.length} rows from ${episodes.length} episodes`)
}

async function exportTraces(
  { from, out, content = false }: ExportCommand,
  { out: say }: Console,
): Promise<void> {
  checkFile(out)
  const { file, run } = episodesFile(from)
  const count = await exportOtel(file, {
    out,
    content,
    run: basename(resolve(run)),
    time: statSync(file).mtime,
  })
  say(`${out}: ${count} traces ${content ? 'with' : 'without'} their messages`)
}

/** The training episodes of a run, without those of evaluations, or the episodes of a file. */
function episodesFile(given: string | undefined): { file: string; run: string } {
  const from = given ?? listRuns()[0]
  if (from !== undefined && existsSync(from)) {
    if (statSync(from).isFile()) return { file: from, run: resolve(from, '..') }
    const file = join(from, 'episodes.jsonl')
    if (existsSync(file)) return { file, run: from }
  }
  throw new AgogeError('There are no episodes to export.', {
    code: 'no-run',
    given: from ?? '.agoge/runs',
    expected: 'a run folder with an episodes.jsonl, or such a file',
    hint: 'Name it: agoge export FOLDER --to sft --out FILE.jsonl',
  })
}

/** The reward that `agoge train` uses on the run's environment. */
function rewardOf(run: string): DatasetOptions['reward'] {
  return trainedEnvironment(run) === 'reasoning'
    ? reasoningReward()
    : taskReward({ perCall: -0.02, perInvalidCall: -0.1 })
}

function readTools(file: string): unknown[] {
  const expected = 'a JSON list of { type: "function", function: { name, description, parameters } }'
  try {
    const tools = readForeignFile(file, (text) => parseForeignJson(text))
    if (Array.isArray(tools)) return tools
  } catch (cause) {
    const given = cause instanceof Error ? cause.message : cause
    throw new AgogeError(`${file} holds no tools.`, { code: 'bad-tools', given, expected, cause })
  }
  throw new AgogeError(`${file} holds no tools.`, {
    code: 'bad-tools',
    given: 'JSON of another kind',
    expected,
  })
}
