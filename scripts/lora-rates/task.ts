import type { TaskSource } from '../../src/llm/agent/types.ts'
import { createRandom } from '../../src/engine/random/index.ts'
import { findKind } from '../../src/llm/environment/reasoning/environment.ts'
import { type Puzzle, splitOfKey } from '../../src/llm/environment/reasoning/kind.ts'
import type { ReasoningTask } from '../../src/llm/environment/reasoning/environment.ts'

const countdown = findKind('countdown')
const name = 'terse-countdown'

export const difficulty = { numbers: 2, largest: 30, target: 60 }

/**
 * Countdown with one prompt template and without steps, so that a model of 0.1M parameters can play it: "4, 12: 48" is answered
 * by "12 * 4". Splits and the check of answers are those of Countdown.
 */
export const tasks: TaskSource<ReasoningTask> = {
  kinds: [name],
  task({ split, seed }) {
    const { key, holes, answer, score } = drawn(split, seed)
    const prompt = `${holes['numbers'].replaceAll(' and ', ', ')}: ${holes['target']}`
    return {
      id: `${split}/${seed}`,
      kind: name,
      seed,
      split,
      prompt,
      difficulty: 1,
      context: {},
      plan: () => ({ answer }),
      problem: {
        kind: name,
        question: prompt,
        key,
        difficulty,
        solve: () => ({ thought: [], answer, text: answer }),
        verify: score,
      },
    }
  },
}

function drawn(split: string, seed: number): Puzzle {
  const random = createRandom(seed, 'ablation', split)
  for (;;) {
    const puzzle = countdown.draw(random, difficulty)
    if (splitOfKey('countdown', puzzle.key) === split) return puzzle
  }
}
