import { z } from 'zod'
import { defineTools } from '../../tool/define-tools.ts'
import type { Toolbox } from '../../tool/tool.ts'
import type { Score } from '../../episode/score.ts'
import type { EpisodeLimits, EpisodeSpec } from '../episode-state.ts'
import { createExpertActor } from '../expert-actor.ts'
import type { Act, Actor, ActRequest, Expert, Task, ToolEnvironment } from '../types.ts'

export const limits: EpisodeLimits = { turns: 4, deadlineSeconds: 600, toolDeadlineSeconds: 120 }

/** A task with this reference solution. */
export function taskOf(id: string, plan: Expert): Task {
  const fixed = { kind: 'sum', seed: 7, split: 'train', difficulty: 1, context: { id } } as const
  return { id, ...fixed, prompt: `task ${id}`, plan }
}

/** One episode per task, with id `e-ID`. */
export function specsOf(tasks: readonly Task[]): EpisodeSpec[] {
  return tasks.map((task) => ({ id: `e-${task.id}`, group: 'g', task }))
}

/** An actor that follows the tasks' plans. */
export function expert(tasks: readonly Task[]): Actor {
  return createExpertActor({ tasks: new Map(tasks.map((task) => [`e-${task.id}`, task])) })
}

interface EnvironmentOptions {
  tools?: (log: string[]) => Promise<Toolbox>
  judge?: (answer: string | null) => Score | Promise<Score>
}

/** An environment with one counter per episode. Records every opened and closed session. */
export function counterEnvironment(
  options: EnvironmentOptions = {},
): ToolEnvironment & { open_: Set<string>; log: string[] } {
  const log: string[] = []
  const open_ = new Set<string>()
  const tools =
    options.tools ??
    (() => {
      let sum = 0
      return defineTools({
        add: {
          inputSchema: z.strictObject({ n: z.number() }),
          execute: ({ n }: { n: number }) => {
            log.push(`add ${n}`)
            return (sum += n)
          },
        },
        wait: {
          inputSchema: z.object({ ms: z.number() }),
          execute: async ({ ms }: { ms: number }) => {
            await new Promise((resolve) => setTimeout(resolve, ms))
            return 'waited'
          },
        },
      })
    })
  return {
    name: 'counter',
    tools: [],
    system: 'Count.',
    log,
    open_,
    async open(task) {
      open_.add(task.id)
      const toolbox = await tools(log)
      return {
        ...toolbox,
        judge: async ({ answer }) =>
          options.judge === undefined
            ? { value: Number(answer === '3'), parts: { answer: answer === '3' ? 1 : 0 } }
            : options.judge(answer),
        async close() {
          open_.delete(task.id)
        },
      }
    },
    async close() {},
  }
}

/** One move of an expert. */
export const add = (n: number): { call: { name: string; arguments: Record<string, unknown> } } => ({
  call: { name: 'add', arguments: { n } },
})
/** Adds 1, then 2, then says the sum. */
export const addTwice: Expert = (results) =>
  results.length < 2 ? add(results.length + 1) : { answer: results[results.length - 1].text }

/** An actor whose acts come from the given function, turn by turn. */
export function scripted(
  turns: (request: ActRequest) => Partial<Act> | Error,
): Actor & { batches: string[][] } {
  const batches: string[][] = []
  return {
    name: 'scripted',
    sampling: { temperature: 1 },
    batches,
    encode: ({ text }) => Int32Array.from(text, (char) => char.charCodeAt(0)),
    act: (requests) => {
      batches.push(requests.map((request) => request.episode))
      return Promise.resolve(
        requests.map((request) => {
          const said = turns(request)
          if (said instanceof Error) return said
          const tokens = said.tokens ?? Int32Array.from([4, 9, 1])
          const basic = { text: '', calls: [], finish: 'stop' as const, weightVersion: 3, promptTokens: 10 }
          const mask = new Uint8Array(tokens.length).fill(1, 1)
          return { ...basic, tokens, mask, logprobs: new Float32Array(tokens.length), ...said }
        }),
      )
    },
  }
}
