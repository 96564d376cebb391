import { isDeepStrictEqual } from 'node:util'
import { defined } from '../../defined.ts'
import type { ConversationMessage } from '../agent/chat-format/types.ts'
import type { Episode, EpisodeNode } from '../episode/types.ts'
import type { Played } from '../project/run-trial.ts'
import { agentProgram, type ConfigTask, toConfigTask } from '../project/training/agent-program.ts'
import { replaying } from '../project/training/replay-episode.ts'
import { type AgentProgram, demonstrateAgent, type Teacher } from '../rollout/agents/rollout-agent.ts'
import { originalName } from '../setup/change-call.ts'
import { smallModelPlan } from '../training/defaults.ts'
import { fineTune } from '../training/fine-tune.ts'
import type { SetupTrial } from './lever.ts'
import type { Learning } from './reinforce.ts'
import { TokenLimit } from './token-limit.ts'

/** Passes over the episodes. */
export const passes = 8

/**
 * SFT on successful trials of the search. Each is played again by the agent as it is, with the recorded answers in place of the model and the
 * recorded results in place of the tools. So what a setup had added to the prompt (instructions, rules, demonstrations, names of tools) is not in
 * what is trained on, and the model learns to do without it. Returns what was done; undefined if no trial could be played again.
 *
 * Source: rejection sampling as in STaR (Zelikman et al., arXiv 2203.14465) and RFT (Yuan et al., arXiv 2308.01825); answers won with a prompt that
 * is then left out, as in context distillation (Snell et al., arXiv 2209.15189).
 */
export async function fineTuneOn(
  trials: readonly SetupTrial[],
  {
    model,
    settings,
    seed,
    signal,
    deadlineSeconds,
    learningRate = smallModelPlan.warmStart.learningRate,
  }: Learning,
): Promise<string | undefined> {
  const shown = trials.map((trial, at) => ({
    ...toConfigTask(trial.task),
    seed: at,
    trial,
    recorded: withOwnNames(trial),
  }))
  const program: AgentProgram<Shown, Played> = {
    name: 'agent',
    run: (task, context) => agentProgram(replaying(settings, task.recorded)).run(task, context),
    // The scorers have judged it already.
    judge: () => 1,
  }
  const played = await demonstrateAgent({
    ...model,
    program,
    tasks: shown,
    teacher: speakAgain,
    name: 'demonstrations',
    ...defined({ deadlineSeconds, signal }),
  })
  const demonstrations = played.filter(({ success }) => success === true)
  if (demonstrations.length === 0) return undefined
  const { optimizer, weightDecay, clip, batch: most } = smallModelPlan.warmStart
  const batch = Math.max(1, Math.min(most, Math.ceil(demonstrations.length / 8)))
  const steps = passes * Math.ceil(demonstrations.length / batch)
  try {
    await fineTune({
      backend: model.backend,
      demonstrations,
      epochs: passes,
      batch,
      learningRate,
      ...defined({ optimizer, weightDecay, clip }),
      warmup: Math.min(10, Math.ceil(steps / 5)),
      seed,
      signal,
    })
  } catch (error) {
    if (!(signal.reason instanceof TokenLimit)) throw error
  }
  return `SFT on ${demonstrations.length} successful episodes`
}

type Shown = ConfigTask & { trial: SetupTrial; recorded: Episode }

/** An episode with the agent's own names of its tools. */
function withOwnNames({ episode, setup }: SetupTrial): Episode {
  const nodes = episode.nodes.map((node) =>
    node.calls === undefined
      ? node
      : { ...node, calls: node.calls.map((call) => ({ ...call, name: originalName(call.name, setup) })) },
  )
  return { ...episode, nodes }
}

/** What the model of the trial said after the same messages, apart from what its setup had added to them. */
const speakAgain: Teacher<Shown> = ({ recorded, trial }, messages) => {
  const added = (trial.setup.demonstrations ?? []).reduce((sum, { messages: of }) => sum + of.length, 0)
  const asked = messages.filter(({ role }) => role !== 'system')
  const answer = recorded.samples
    .map(({ path, output }) => ({
      before: path
        .map((id) => recorded.nodes[id])
        .filter(({ role }) => role !== 'system')
        .slice(added),
      said: recorded.nodes[output],
    }))
    .find(
      ({ before, said }) =>
        said.invalid === undefined &&
        before.length === asked.length &&
        before.every((node, at) => isAlike(node, asked[at])),
    )
  if (answer === undefined) throw new Error('the trial has no such conversation')
  const { text, calls = [] } = answer.said
  if (calls.length === 0) return { text }
  return { text, calls: calls.map(({ name, arguments: given }) => ({ name, arguments: given })) }
}

/** Ids of calls differ from one run of an agent to the next. */
function isAlike(node: EpisodeNode, { role, text, calls = [] }: ConversationMessage): boolean {
  const said = (of: readonly { name: string; arguments: unknown }[]): unknown =>
    of.map(({ name, arguments: given }) => [name, given])
  return (
    node.role === role &&
    node.text.trim() === text.trim() &&
    isDeepStrictEqual(said(node.calls ?? []), said(calls))
  )
}
