import { generateText } from 'ai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { writeTinyCheckpoint } from '../../../agent/testing/tiny-checkpoint.ts'
import type { FileTask } from '../../../environment/mcp/goals/task-file.ts'
import { type AgogeConfig, defineConfig, run } from '../../config.ts'
import { train } from '../../train.ts'
import type { TrainConfigEvent, TrainConfigOptions, TrainConfigResult } from '../train-config.ts'

async function temporary(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-train-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export const letters = (count: number): FileTask[] =>
  Array.from({ length: count }, (_, at) => ({ id: `t${at}`, kind: 'letters', prompt: 'Say a letter' }))

/** The share of an answer that is letters: a model of random weights has some of it. */
export function letterShare({ output }: { output: unknown }): number {
  const text = String(output)
  return text.replaceAll(/[^a-z]/g, '').length / Math.max(1, text.length)
}

const agent: AgogeConfig['agent'] = async (task, { model, signal }) =>
  (await generateText({ model, prompt: task.prompt, maxOutputTokens: 3, abortSignal: signal })).text

/** A config with a model of random weights in a folder of its own. */
export async function tinyConfig(
  changes: Partial<AgogeConfig> = {},
  window = 200,
): Promise<{ config: AgogeConfig; folder: string }> {
  const folder = await temporary()
  await writeTinyCheckpoint(folder, { window })
  const config = defineConfig({ agent, tasks: letters(40), score: letterShare, models: [run('model')] })
  return { config: { ...config, ...changes }, folder }
}

/** A whole training, with its events. */
export async function trained(
  config: AgogeConfig,
  options: TrainConfigOptions,
): Promise<{ events: TrainConfigEvent[] } & TrainConfigResult> {
  const running = train(config, options)
  const events: TrainConfigEvent[] = []
  for await (const event of running) events.push(event)
  return { events, ...(await running.result) }
}

/** Settings of a training of seconds. */
export const short = { steps: 3, groups: 4, groupSize: 6, learningRate: 0.02, validateEvery: 2 }
