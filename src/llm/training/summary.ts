import type { Task } from '../agent/types.ts'
import { compareSuccess } from '../evaluation/compare.ts'
import type { Job } from './job.ts'
import { machine } from '../../runs/machine.ts'
import { remarksOn } from './remarks.ts'
import { wrongToRight } from './samples.ts'
import { stageEpisodes } from './stage.ts'
import type { TrainingSummary } from './types.ts'

/** Puts together what the finished job has to say. */
export function summarise<T extends Task>(job: Job<T>): TrainingSummary {
  const { options, state, folder } = job
  const rl = stageEpisodes(folder, 'rl')
  const compared = state.stages.some((stage) => stage.name === 'supervised')
  const { stages, demonstrations, signal } = state
  const { steps } = options.plan.reinforcement
  const reinforcement = signal === undefined ? undefined : { steps, ...signal }
  const remarks = remarksOn({ stages, demonstrations, reinforcement })
  return {
    schema: 1,
    command: options.command,
    algorithm: options.algorithmName,
    machine: machine(),
    seconds: state.seconds,
    seed: options.seed,
    stages: state.stages,
    ...(compared ? { gain: compareSuccess(rl, stageEpisodes(folder, 'supervised')) } : {}),
    ...(state.unseenParaphrases === null ? {} : { unseenParaphrases: state.unseenParaphrases }),
    demonstrations: state.demonstrations,
    unstableTools: state.unstableTools,
    dropped: state.dropped,
    maskedReasons: state.maskedReasons,
    reinforcement,
    remarks: remarks.length === 0 ? undefined : remarks,
    cost: { seconds: state.seconds, ...state.cost },
    samples: wrongToRight(
      stageEpisodes(folder, options.program === undefined ? 'warm-start' : 'base'),
      rl,
      3,
    ),
    model: folder.file('checkpoints', 'final'),
  }
}
