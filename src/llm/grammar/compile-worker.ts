import { parentPort, workerData } from 'node:worker_threads'
import { AgogeError, errorData } from '../../error.ts'
import { compileGrammar } from './compile.ts'
import type { CompileAnswer, CompileTask } from './compiler.ts'
import { createAlgebra } from './expression.ts'
import { createStepBudget, grammarLimits, tooLarge } from './step-budget.ts'

// A thread that compiles grammars one after another.
const { markers } = workerData as { markers: readonly number[] }
const port = parentPort!

function compile(task: CompileTask): CompileAnswer {
  const budget = createStepBudget()
  const algebra = createAlgebra(budget)
  try {
    const { value: expressions } = budget.within(grammarLimits.compiling, 'compile it', () =>
      algebra.pack(compileGrammar(algebra, task.grammar, markers)),
    )
    if (expressions.words.length > grammarLimits.words)
      throw tooLarge(`at most ${grammarLimits.words} words of compiled grammar`)
    return { expressions }
  } catch (error) {
    if (!AgogeError.isInstance(error)) throw error
    return { refused: errorData(error) }
  }
}

port.on('message', (task: CompileTask) => {
  const answer = compile(task)
  const transfer =
    'refused' in answer ? [] : [answer.expressions.words.buffer, answer.expressions.lengths.buffer]
  port.postMessage(answer, transfer as ArrayBuffer[])
})
