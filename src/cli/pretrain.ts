import { availableParallelism, cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { modelCard } from '../language/model-card.ts'
import { pretrain } from '../language/pretrain.ts'
import type { Pretrained } from '../language/pretrain.ts'
import { guardedWork } from '../training/file-error.ts'
import { count, duration } from '../training/report/index.ts'
import { writeWhole } from '../training/whole-file.ts'
import type { Console } from './console.ts'
import { checkModelFolder } from './model-folder.ts'
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
  const { seed, tokens, resume = false } = command
  const out = resolve(command.out)
  checkModelFolder(out, resume)
  terminal.err(
    `Pretraining on ${count(tokens)} tokens of generated text: about ${duration(tokens / expectedTokensPerSecond)} on two cores.`,
  )
  const progress = createProgress(terminal.progress)
  try {
    progress.event({ type: 'phase', name: 'pretrain', total: null })
    let seconds = 0
    const checkpoints = join(out, 'checkpoints')
    const made = await guardedWork(checkpoints, () =>
      pretrain({
        seed,
        tokens,
        resume,
        checkpointFolder: checkpoints,
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
      }),
    )
    try {
      // Half precision keeps the published model under 4 MB.
      await guardedWork(out, () => made.backend.export(out, 'F16'))
      writeWhole(join(out, 'README.md'), card(command, made))
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
