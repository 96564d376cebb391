/**
 * The study of LoRA's learning rate, written before it ran.
 *
 * Question: by which factor should the learning rate of LoRA differ from that of training all weights, by rank?
 *
 * Model: the base model of the package (0.94M parameters). Task: Countdown with two numbers in one prompt template
 * (`scripts/lora-rates/task.ts`). Jobs:
 *
 * - `sft-adamw` and `sft-muon`: supervised fine-tuning on demonstrations. Score: nats per token of held-out
 *   demonstrations; lower is better.
 * - `grpo`: GRPO with AdamW from one warm start, trained with all weights. Score: share of held-out tasks solved at
 *   temperature 1; higher is better.
 *
 * Arms: all weights, and LoRA of ranks 4 and 16 with the defaults (alpha 32, every matrix of the blocks). Rates: half decades.
 * If the best mean of an arm is at an end of its grid, the next rate beyond is run with all seeds, up to `extensions` times, so
 * that the best one is inside. (Changed while the study ran, before any job had been extended: this is done after each seed,
 * so that a study that ends early has it, too. Means are over the seeds that have the whole grid.)
 *
 * The factor of an arm is its best rate over the best rate of all weights in the same job; the resolution is a half decade. The
 * default of LoRA's rate changes for a job if the factors of both ranks are at least 3 (or at most 1/3), and the training with
 * the unchanged rate (that of all weights) is worse than with the best rate in every seed.
 */
export const budget = {
  seeds: [1, 2, 3],
  arms: { all: null, 'LoRA 4': 4, 'LoRA 16': 16 } as Record<string, number | null>,
  extensions: 4,
  /** Of the held-out score of `grpo`. */
  testTasks: 300,
  supervised: { demonstrations: 600, test: 200, steps: 40, batch: 30, warmup: 4 },
  reinforcement: {
    steps: 25,
    groups: 8,
    groupSize: 8,
    warmStart: { demonstrations: 1200, learningRate: 3e-3, steps: 60, batch: 40, warmup: 6 },
  },
}

/** Rates of the grids are 10^(k/2); these are the k. */
export const jobs = {
  'sft-adamw': { lower: true, all: [-7, -6, -5, -4], lora: [-6, -5, -4, -3] },
  'sft-muon': { lower: true, all: [-7, -6, -5, -4], lora: [-6, -5, -4, -3] },
  grpo: { lower: false, all: [-8, -7, -6, -5], lora: [-7, -6, -5, -4] },
} as const

export type JobName = keyof typeof jobs

/** One training. */
export interface Row {
  arm: string
  /** Twice the decimal logarithm of the learning rate. */
  exponent: number
  seed: number
  /** Null if numbers became non-finite. */
  score: number | null
}

/** `docs/results/lora-rates/JOB.json`. */
export interface JobResults {
  /** The score of the start. */
  before: number
  rows: Row[]
}

export const rateOf = (exponent: number): number => Number((10 ** (exponent / 2)).toPrecision(2))

/** The seeds with which the whole grid of a job was run. */
export function seedsOf(job: JobName, rows: readonly Row[]): number[] {
  const { all, lora } = jobs[job]
  return budget.seeds.filter((seed) =>
    Object.keys(budget.arms).every((arm) =>
      (arm === 'all' ? all : lora).every((exponent) =>
        rows.some((row) => row.arm === arm && row.exponent === exponent && row.seed === seed),
      ),
    ),
  )
}

/**
 * Mean score of an arm at a rate over these seeds, worse than all others if a training failed. Undefined if one is
 * missing.
 */
export function meanOf(
  job: JobName,
  rows: readonly Row[],
  arm: string,
  exponent: number,
): number | undefined {
  const seeds = seedsOf(job, rows)
  const found = rows.filter((row) => row.arm === arm && row.exponent === exponent && seeds.includes(row.seed))
  if (seeds.length === 0 || found.length < seeds.length) return undefined
  const worst = jobs[job].lower ? Infinity : -Infinity
  return found.reduce((sum, { score }) => sum + (score ?? worst), 0) / found.length
}

/** The rate with the best mean, as an exponent, and whether it lies between two others. */
export function bestOf(
  job: JobName,
  rows: readonly Row[],
  arm: string,
): { exponent: number; inside: boolean } {
  const sign = jobs[job].lower ? 1 : -1
  const exponents = [...new Set(rows.filter((row) => row.arm === arm).map((row) => row.exponent))]
    .filter((exponent) => meanOf(job, rows, arm, exponent) !== undefined)
    .toSorted((a, b) => a - b)
  const sorted = exponents.toSorted(
    (a, b) => sign * (meanOf(job, rows, arm, a)! - meanOf(job, rows, arm, b)!),
  )
  const best = sorted[0]
  return { exponent: best, inside: best !== exponents[0] && best !== exponents.at(-1) }
}
