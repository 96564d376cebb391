import { existsSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { AgogeError } from '../error.ts'
import { modelCard } from '../language/model-card.ts'
import { pretrain } from '../language/pretrain.ts'
import type { Pretrained } from '../language/pretrain.ts'
import { count, duration } from '../training/report/index.ts'
import type { Console } from './console.ts'
import { createProgress } from './progress.ts'

/** Tokens of the corpus that the base model is trained on. */
export const baseTokens = 20_000_000

// Two cores of a laptop; the command says the real figure as soon as it has measured it.
const expectedTokensPerSecond = 8_000

export interface PretrainCommand {
  out: string
  seed: number
  tokens: number
  resume?: boolean
}

/** Makes a base model from generated text in `out`; with `resume` goes on where a stopped one was. */
export async function runPretrain(command: PretrainCommand, terminal: Console): Promise<void> {
  const { out, seed, tokens, resume = false } = command
  if (!resume && existsSync(join(out, 'model.safetensors'))) {
    throw new AgogeError(`${out} already holds a model.`, {
      code: 'model-exists',
      given: out,
      expected: 'a folder without a model',
      hint: 'Choose another folder with --out.',
    })
  }
  terminal.err(
    `Pretraining on ${count(tokens)} tokens of generated text: about ${duration(tokens / expectedTokensPerSecond)} on two cores.`,
  )
  const progress = createProgress(terminal.progress)
  try {
    progress.event({ type: 'phase', name: 'pretrain', total: null })
    let seconds = 0
    const made = await pretrain({
      seed,
      tokens,
      resume,
      checkpointFolder: join(out, 'checkpoints'),
      signal: terminal.signal,
      onProgress: (at) => {
        const perStep = at.tokens / at.step
        progress.event({
          type: 'step',
          phase: 'pretrain',
          step: at.step,
          total: Math.ceil(at.totalTokens / perStep),
          seconds: at.seconds - seconds,
          metrics: { loss: at.loss, tokensPerSecond: at.tokensPerSecond, gradientNorm: at.gradientNorm },
        })
        seconds = at.seconds
        if (at.probes !== undefined) progress.line(`${count(at.tokens)} tokens: ${skills(at.probes)}`)
      },
    })
    try {
      // Half precision keeps the published model under 4 MB.
      await made.backend.export(out, 'F16')
      writeFileSync(join(out, 'README.md'), card(command, made))
    } finally {
      await made.backend.dispose()
    }
    progress.close()
    terminal.out(
      `${out}: ${count(made.tokens)} tokens in ${duration(made.seconds)}, loss ${made.loss.toFixed(3)}`,
    )
    terminal.out(skills(made.probes))
  } finally {
    progress.close()
  }
}

function card({ seed, tokens }: PretrainCommand, made: Pretrained): string {
  return modelCard({
    name: 'Agoge base model',
    command: `agoge pretrain --seed ${seed} --tokens ${tokens}`,
    seed,
    config: made.backend.config,
    parameters: made.backend.parameters.layout.size,
    tokens: made.tokens,
    steps: made.steps,
    seconds: made.seconds,
    machine: `${availableParallelism()} cores of ${cpus()[0]?.model ?? 'an unknown processor'}`,
    loss: made.loss,
    probes: made.probes,
    probeCount: 100,
  })
}

function skills(scores: Partial<Record<string, number>>): string {
  return Object.entries(scores)
    .map(([name, value]) => `${name} ${Math.round((value ?? 0) * 100)}%`)
    .join(', ')
}
