import type { Judgement, ToolEnvironment } from '../../agent/types.ts'
import type { ReasoningTask } from './tasks.ts'

/** A question is asked, a reply is checked by program: an environment without tools. `part:score` of an episode is the partial credit. */
export function createReasoningEnvironment(): ToolEnvironment<ReasoningTask> {
  return {
    name: 'reasoning',
    tools: [],
    open: ({ problem }) =>
      Promise.resolve({
        specs: [],
        call: (name) => Promise.resolve({ text: `error: there is no tool ${name}`, isError: true }),
        judge: ({ answer }) => Promise.resolve(judge(answer === null ? 0 : problem.verify(answer))),
        close: () => Promise.resolve(),
      }),
    close: () => Promise.resolve(),
  }
}

const judge = (score: number): Judgement => ({
  success: score === 1,
  parts: { score },
  ...(score === 1 ? {} : { reason: score === 0 ? 'the answer is wrong' : 'the answer is right in part' }),
})
