// The kinds of runs that are killed, each as the command that begins it and the command that resumes it.

/** A run of some kind. `out` is its folder, `prepared` that of the files which it needs. */
export interface RunKind {
  /** What is trained or measured, for the report. */
  name: string
  /** Arguments of the command line. */
  begin: (out: string, prepared: string) => readonly string[]
  /** Default: `train --resume OUT`. */
  resume?: (out: string, prepared: string) => readonly string[]
  /** Makes what the run needs, once, in `prepared`. */
  prepare?: (prepared: string) => readonly string[]
  /** The file that equal runs have with equal bytes; such a run is killed at any moment. Default: the weights and the state in the folder. */
  output?: string
  /** The file in the folder that shows that training began. Default: `metrics.jsonl`. */
  progress?: string
  /** Kills of this kind. */
  kills: number
  /** Whether it is part of `--quick`. */
  quick?: boolean
}

const classic = (environment: string, algorithm: string, steps: number, ...more: string[]): RunKind => ({
  name: [environment, algorithm, ...more.map((text) => text.replace(/^--/, ''))].join(' '),
  begin: (out) =>
    `train ${environment} --algorithm ${algorithm} --steps ${steps} --seed 3 --out`
      .split(' ')
      .concat(out, more),
  kills: 8,
})

const language = (name: string, ...options: string[]): RunKind => ({
  name,
  begin: (out) => ['train', ...options, '--seed', '3', '--out', out],
  kills: 14,
})

const quickly = ['--quick', '--steps', '6', '--tasks', '16'] as const

const offline = (method: string): RunKind => {
  const begin = (out: string, prepared: string): string[] =>
    `train-offline --method ${method} --steps 40 --tasks 8 --seed 3 --out`.split(' ').concat(out, prepared)
  return {
    name: `train-offline ${method}`,
    prepare: (prepared) => ['train', 'filesystem', ...quickly, '--seed', '3', '--out', prepared],
    begin,
    resume: (out, prepared) => [...begin(out, prepared), '--resume'],
    kills: 12,
  }
}

const paper = (id: string): RunKind => {
  const begin = (out: string): string[] =>
    `papers run ${id} --workers 2 --out`.split(' ').concat(`${out}/${id}.json`)
  return {
    name: `papers run ${id}`,
    begin,
    resume: (out) => [...begin(out), '--resume'],
    output: `${id}.json`,
    progress: `${id}.partial.jsonl`,
    kills: 8,
  }
}

/** All kinds; those of one family of algorithms stand together. */
export const runKinds: readonly RunKind[] = [
  { ...classic('cartpole', 'ppo', 40_000), quick: true },
  classic('pendulum', 'ppo', 30_000, '--vary', 'all'),
  classic('cartpole', 'ppo', 12_000, '--encoder', 'gru'),
  classic('deep-sea', 'ppo', 30_000, '--bonus', 'rnd'),
  classic('cartpole', 'a2c', 40_000),
  classic('cartpole', 'reinforce', 40_000),
  { ...classic('cartpole', 'dqn', 12_000), quick: true },
  classic('cartpole', 'c51', 6_000),
  classic('cartpole', 'qr-dqn', 6_000),
  classic('cartpole', 'pqn', 40_000),
  classic('cartpole', 'sac-discrete', 4_000),
  classic('pendulum', 'sac', 4_000),
  classic('pendulum', 'td3', 4_000),
  classic('pendulum', 'ddpg', 4_000),
  classic('cartpole', 'openai-es', 60_000),
  classic('cartpole', 'cma-es', 60_000),
  { ...classic('frozen-lake', 'q-learning', 200_000), quick: true },
  classic('taxi', 'double-q-learning', 200_000),
  classic('cliff-walking', 'expected-sarsa', 200_000),
  classic('frozen-lake', 'n-step-sarsa', 200_000),
  classic('frozen-lake', 'q-lambda', 200_000),
  classic('bernoulli-bandit', 'q-learning', 200_000),
  classic('prisoners-dilemma', 'ppo', 30_000),
  // Not part of `--quick`: `train-run.slow.test.ts` kills such a run.
  language('filesystem', 'filesystem', ...quickly),
  language('filesystem, sampled ahead', 'filesystem', ...quickly, '--max-staleness', '1', '--overlap'),
  language('filesystem, LoRA and DAPO', 'filesystem', ...quickly, '--lora', '4', '--algorithm', 'dapo'),
  language('filesystem, a critic', 'filesystem', ...quickly, '--algorithm', 'ppo'),
  language('reasoning', 'reasoning', ...quickly),
  language('adventure', 'adventure', ...quickly),
  offline('dpo'),
  offline('kto'),
  offline('reward-model'),
  {
    name: 'eval filesystem',
    begin: (out) => ['eval', 'filesystem', '--tasks', '60', '--seed', '3', '--json', `${out}/report.json`],
    // An evaluation begins anew.
    resume: (out) => ['eval', 'filesystem', '--tasks', '60', '--seed', '3', '--json', `${out}/report.json`],
    output: 'report.json',
    kills: 6,
  },
  // One of neural networks and one of tables.
  paper('maml'),
  paper('jsrl'),
]
