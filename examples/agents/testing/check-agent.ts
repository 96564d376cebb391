// Runs the agent of a config against scripted models, and prints as JSON what became of each trial.
//   node check-agent.ts CONFIG
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type AgogeConfig, evaluate } from 'agoge'
import { httpError, request, type Said, scripted } from '../../../src/llm/project/testing/scripted-model.ts'

type Model = ReturnType<typeof scripted>

const { href } = pathToFileURL(resolve(process.argv[2]))
const { default: config } = (await import(href)) as { default: AgogeConfig }

/** What each trial became, and how often the service was asked for it. */
async function outcomes(
  model: Model,
  prompts: readonly string[],
  settings: Partial<AgogeConfig> = {},
): Promise<object> {
  const { records } = await evaluate({
    ...config,
    tasks: prompts.map((prompt) => ({ id: prompt, prompt, expected: { answer: 'right' } })),
    models: [model],
    retries: 1,
    backoffSeconds: 0.001,
    ...settings,
  }).result
  return Object.fromEntries(
    records.map(({ task, status, success, error, modelCalls: calls }) => {
      const requests = model.calls.filter((call) => request(call) === task).length
      return [task, { status, success, calls, requests, ...(error !== undefined && { error }) }]
    }),
  )
}

const call: Said = { tool: 'weather_at', input: { town: 'Oslo' } }
const fails = (): never => {
  throw httpError(500)
}
/** Answers by the task. */
const service = (): Model =>
  scripted((options) => {
    const isAnswered = options.prompt.some(({ role }) => role === 'tool')
    switch (request(options)) {
      case 'fails at once':
        return fails()
      case 'fails after a tool':
        return isAnswered ? fails() : call
      case 'too long':
        throw httpError(400, 'prompt is too long')
      case 'unknown tool':
        return { tool: 'no_such_tool', input: {} }
      case 'wrong arguments':
        return { tool: 'weather_at', input: { city: 'Oslo' } }
      case 'never ends':
        return call
      case 'uses a tool':
        return isAnswered ? 'right' : call
      default:
        return 'right'
    }
  })

const faults = ['answers', 'uses a tool', 'fails at once', 'fails after a tool']
const hiding: AgogeConfig['agent'] = async (task, environment) => {
  try {
    return await config.agent(task, environment)
  } catch {
    return 'right'
  }
}

/**
 * An agent that waits for a call of an hour is told to stop, by the time limit of its trial or by hand. How the evaluation ended, and whether
 * the agent called the model again.
 */
async function stopped(trialSeconds?: number): Promise<object> {
  const model = scripted(() => 'right', { delay: 3_600_000 })
  const controller = new AbortController()
  let work: Promise<unknown> = Promise.resolve()
  const running = evaluate(
    {
      ...config,
      tasks: [{ id: 'slow', prompt: 'slow', expected: { answer: 'right' } }],
      models: [model],
      ...(trialSeconds !== undefined && { trialSeconds }),
      agent: (task, environment) => {
        work = Promise.resolve(config.agent(task, environment))
        return work
      },
    },
    { signal: controller.signal },
  )
  if (trialSeconds === undefined) {
    while (model.calls.length === 0) await new Promise((ready) => setTimeout(ready, 10))
    controller.abort(new Error('stopped by hand'))
  }
  const how = await running.result.then(
    ({ records }) => records.map(({ status, ending }) => `${status}: ${ending}`).join(),
    (error: Error) => error.message,
  )
  // Without an end of the agent this program never ends.
  await work.catch(() => {})
  return { ended: how, isRepeated: model.calls.length > 1 }
}

const cut = scripted(() => 'right', { cut: () => true })
console.log(
  JSON.stringify({
    faults: await outcomes(service(), faults),
    hidden: await outcomes(service(), faults, { agent: hiding }),
    mistakes: await outcomes(service(), ['unknown tool', 'wrong arguments', 'never ends', 'too long']),
    brokenOff: await outcomes(cut, ['answers']),
    deadline: await stopped(0.3),
    aborted: await stopped(),
  }),
)
process.exit(0)
