import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import { writeWhole } from '../../../runs/files.ts'
import type { OnTrainingEvent } from '../../../runs/run-folder.ts'
import { average } from '../../../statistics/statistics.ts'
import { type FileTask, fromFileTask } from '../../environment/mcp/goals/task-file.ts'
import { encodeEpisode, readEpisodes } from '../../episode/codec.ts'
import type { Episode } from '../../episode/types.ts'
import { isJudged } from '../../evaluation/episode-statistics.ts'
import {
  type AgentModel,
  type AgentProgram,
  demonstrateAgent,
  rolloutAgent,
  type Teacher,
} from '../../rollout/agents/rollout-agent.ts'
import { smallModelPlan } from '../../training/defaults.ts'
import { fineTune } from '../../training/fine-tune.ts'
import type { TrainableBackend } from '../../training/types.ts'
import type { Played, TrialSettings } from '../run-trial.ts'
import { agentProgram, type ConfigTask, toConfigTask } from './agent-program.ts'
import { replaying, speakingAs } from './replay-episode.ts'

/** What became of the demonstrations. */
export interface WarmStartCounts {
  /** Those that are trained on. */
  used: number
  /** Those of no task for training: held-out tasks stay unseen. */
  otherTasks: number
  failed: number
  /** Those that do not fit into the window of the model. */
  tooLong: number
  /** Those that the agent of the config does not have in this form, for instance because its prompt has changed. */
  unlike: number
}

/** What a warm start needs. */
export interface WarmStartOptions {
  backend: TrainableBackend
  model: AgentModel
  hasMuon: boolean
  program: AgentProgram<ConfigTask, Played>
  settings: TrialSettings
  train: readonly FileTask[]
  validation: readonly ConfigTask[]
  deadlineSeconds?: number
  seed: number
  /** Folder of the run of the warm start. */
  out: string
  /** Folder of the config. */
  root: string
  resume: boolean
  onEvent: OnTrainingEvent
  onCounts: (counts: WarmStartCounts) => void
  signal?: AbortSignal
}

/** Why demonstrations were left out. */
export function leftOut({ otherTasks, failed, tooLong, unlike }: WarmStartCounts): string {
  return `${otherTasks} of other tasks, ${failed} that failed, ${tooLong} that are too long for the model, ${unlike} that the agent does not have in this form`
}

const passes = 4

/**
 * SFT on demonstrations: of the tasks themselves (`tasks`), or of the episodes in a folder or file that succeeded, such as those of an
 * evaluation of a larger model. Ends with the weights of the highest success on the validation tasks.
 *
 * @throws AgogeError `too-few-demonstrations` if there is none that can be used.
 */
export async function warmStart(source: string, options: WarmStartOptions): Promise<void> {
  const { backend, model, hasMuon, program, validation, seed, out, resume, onEvent, signal } = options
  const kept = `${out}.jsonl`
  const demonstrations = resume && existsSync(kept) ? readEpisodes(kept) : await collect(source, options)
  if (!existsSync(kept))
    writeWhole(kept, demonstrations.map((episode) => `${encodeEpisode(episode)}\n`).join(''))
  const { learningRate, optimizer, weightDecay, clip } = smallModelPlan.warmStart
  const batch = Math.max(1, Math.min(smallModelPlan.warmStart.batch, Math.ceil(demonstrations.length / 8)))
  const steps = passes * Math.ceil(demonstrations.length / batch)
  await fineTune({
    backend,
    demonstrations,
    epochs: passes,
    batch,
    ...(hasMuon
      ? { learningRate, optimizer }
      : { learningRate: smallModelPlan.reinforcement.learningRate, optimizer: 'adamw' }),
    ...defined({ weightDecay, clip, signal }),
    warmup: Math.min(10, Math.ceil(steps / 5)),
    seed,
    out,
    resume: resume && existsSync(join(out, 'config.json')),
    onEvent,
    validation: {
      measure: 'success',
      every: Math.ceil(steps / passes),
      async score() {
        const episodes = await rolloutAgent({
          ...model,
          program,
          tasks: validation,
          name: `warm-start-validation@${backend.weightVersion ?? 0}`,
          seed,
          temperature: 0,
          ...defined({ deadlineSeconds: options.deadlineSeconds, signal }),
        })
        return average(
          episodes
            .flat()
            .filter(isJudged)
            .map(({ success }) => Number(success)),
        )
      },
    },
  })
}

async function collect(source: string, options: WarmStartOptions): Promise<Episode[]> {
  const { episodes, counts } =
    source === 'tasks'
      ? await fromTasks(options)
      : await fromEpisodes(episodesFile(source, options.root), options)
  options.onCounts(counts)
  if (episodes.length > 0) return episodes
  throw new AgogeError('there is no demonstration to train on', {
    code: 'too-few-demonstrations',
    given: leftOut(counts),
    expected:
      source === 'tasks'
        ? 'tasks for training with "reference" or "expected.answer", which the scorers accept'
        : 'successful episodes of tasks for training, of the same agent',
  })
}

interface Collected {
  episodes: Episode[]
  counts: WarmStartCounts
}

const tooLong = (episodes: readonly Episode[]): number =>
  episodes.filter(({ ending }) => ending === 'token-limit').length

/** The agent, with the reference of a task in place of the model. */
async function fromTasks(options: WarmStartOptions): Promise<Collected> {
  const shown = options.train.filter(
    ({ reference, expected }) => reference !== undefined || expected?.answer !== undefined,
  )
  const episodes = await demonstrate(
    options,
    options.program,
    shown.map(toConfigTask),
    ({ given }, messages) => {
      const results = messages.flatMap(({ role, text, isError = false }) =>
        role === 'tool' ? [{ text, isError }] : [],
      )
      const move = fromFileTask(given, 0).plan(results)
      return 'answer' in move ? { text: move.answer } : move
    },
  )
  const used = episodes.filter(({ success }) => success === true)
  const otherTasks = options.train.length - shown.length
  return {
    episodes: used,
    counts: {
      used: used.length,
      otherTasks,
      failed: shown.length - used.length - tooLong(episodes),
      tooLong: tooLong(episodes),
      unlike: 0,
    },
  }
}

/** The agent, with the answers of an episode in place of the model, and its results in place of the tools: nothing acts again. */
async function fromEpisodes(file: string, options: WarmStartOptions): Promise<Collected> {
  const all = readEpisodes(file)
  const tasks = new Map(options.train.map((task) => [task.id, task]))
  const known = all.filter(({ task }) => tasks.has(task))
  const good = known.filter(({ success }) => success === true)
  const shown = good.map((recorded, at) => ({
    ...toConfigTask(tasks.get(recorded.task)!),
    seed: at,
    recorded,
  }))
  const settings = (recorded: Episode): TrialSettings => replaying(options.settings, recorded)
  const program: AgentProgram<ConfigTask & { recorded: Episode }, Played> = {
    name: 'agent',
    run: (task, context) => agentProgram(settings(task.recorded)).run(task, context),
    // The scorers have judged it already.
    judge: () => 1,
  }
  const episodes = await demonstrate(options, program, shown, ({ recorded }, messages) =>
    speakingAs(recorded, messages),
  )
  const used = episodes.filter(({ success }) => success === true)
  return {
    episodes: used,
    counts: {
      used: used.length,
      otherTasks: all.length - known.length,
      failed: known.length - good.length,
      tooLong: tooLong(episodes),
      unlike: good.length - used.length - tooLong(episodes),
    },
  }
}

/** Agents that are demonstrated at the same time. */
const wave = 64

async function demonstrate<T extends ConfigTask>(
  { model, deadlineSeconds, signal }: WarmStartOptions,
  program: AgentProgram<T, Played>,
  tasks: readonly T[],
  teacher: Teacher<T>,
): Promise<Episode[]> {
  const episodes: Episode[] = []
  for (let at = 0; at < tasks.length; at += wave)
    episodes.push(
      ...(await demonstrateAgent({
        ...model,
        program,
        tasks: tasks.slice(at, at + wave),
        teacher,
        name: `demonstrations/${at}`,
        ...defined({ deadlineSeconds, signal }),
      })),
    )
  return episodes
}

function episodesFile(source: string, root: string): string {
  const path = resolve(root, source)
  const places = [path, join(path, 'episodes.jsonl'), join(path, 'evaluation', 'episodes.jsonl')]
  const found = places.find((place) => existsSync(place) && statSync(place).isFile())
  if (found !== undefined) return found
  throw new AgogeError(`there are no episodes in ${source}`, {
    code: 'bad-argument',
    given: places.join(', '),
    expected: 'the folder of an evaluation, or a file of episodes, or "tasks"',
  })
}
