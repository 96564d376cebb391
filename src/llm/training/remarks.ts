import { smallModelPlan } from './defaults.ts'
import { percent } from '../../runs/report/format.ts'
import type { TrainingSummary } from './types.ts'

/** Demonstrations and steps below which a run without a clear gain is called too short: the small model hardly ever learns from fewer. */
const fewDemonstrations = 60
const fewSteps = 16

/**
 * Plain sentences about a run that did not go well: success that stays at or falls to 0%, reinforcement learning without anything to learn
 * from, a run too short to learn. Each says what happened and what to do. None for a run that went well.
 */
export function remarksOn({
  stages,
  demonstrations,
  reinforcement,
}: Pick<TrainingSummary, 'stages' | 'demonstrations' | 'reinforcement'>): string[] {
  if (reinforcement === undefined) return []
  const successOf = (name: string) => stages.find((stage) => stage.name === name)?.success
  const [base, warm, rl] = [successOf('base'), successOf('warm-start'), successOf('rl')]
  const { steps, groups, groupsWithSignal, failed, judged } = reinforcement
  const remarks: string[] = []
  if (rl !== undefined && rl.n > 0 && rl.mean === 0)
    remarks.push(
      warm !== undefined && warm.mean > 0
        ? `Success fell from ${percent(warm.mean)} after the warm start to 0%: reinforcement learning lost what was there. Try another --algorithm or --seed, or in a program a lower learning rate (plan.reinforcement.learningRate).`
        : 'Success stayed at 0%: the warm start taught too little for reinforcement learning to go on from. Give it more demonstrations (`demonstrations` of train()), or a larger model (--model).',
    )
  if (groups > 0 && groupsWithSignal === 0)
    remarks.push(
      `Reinforcement learning had nothing to learn from: in each of ${groups} groups all episodes got the same reward. ` +
        (failed === judged
          ? 'No episode succeeded; the policy must succeed now and then before it can learn, so the warm start needs more demonstrations.'
          : failed === 0
            ? 'Every episode succeeded; the tasks have nothing more to teach.'
            : 'Larger groups (plan.reinforcement.groupSize) or harder tasks would differ.'),
    )
  const shown = Object.values(demonstrations).reduce((sum, count) => sum + count, 0)
  const short = [
    ...(shown < fewDemonstrations ? [`${shown} demonstrations`] : []),
    ...(steps < fewSteps ? [`${steps} ${steps === 1 ? 'step' : 'steps'} of reinforcement learning`] : []),
  ]
  const gained = base !== undefined && rl !== undefined && rl.low > base.high
  if (!gained && short.length > 0)
    remarks.push(
      `The run was too short to show a gain: ${short.join(' and ')}. The usual plan has 240 demonstrations and more, and ${smallModelPlan.reinforcement.steps} steps (--steps).`,
    )
  return remarks
}
