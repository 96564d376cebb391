// A model as judge: the reward is the success that the environment checks, plus how well the answer is worded.
import {
  createFilesystemEnvironment,
  createOpenAIActor,
  filesystemDemonstrations,
  filesystemTasks,
  judgeReward,
  taskReward,
  train,
} from 'agoge'
import { compose } from 'agoge/rewards'

// JUDGE_URL is any OpenAI-compatible endpoint. Without one, a function stands in for the model and prefers short
// answers.
const { JUDGE_URL: baseUrl, JUDGE_MODEL: model = 'gpt-5-mini' } = process.env
const placeholder = (question: string): string => {
  const said = /assistant: (.*)\n<\/conversation /.exec(question)?.[1] ?? ''
  return `style: ${Math.max(0, 10 - Math.floor(said.length / 8))}`
}
const judge = judgeReward({
  judge: baseUrl === undefined ? placeholder : createOpenAIActor({ baseUrl, model }),
  rubric: { style: 'The answer says what was asked, and nothing else.' },
})

// STEPS=2 makes a trial run with fewer steps, tasks and demonstrations.
const steps = Number(process.env['STEPS'] ?? 20)
const environment = await createFilesystemEnvironment()
const summary = await train({
  environment,
  tasks: filesystemTasks,
  demonstrations: steps < 10 ? 4 : filesystemDemonstrations,
  steps,
  testTasks: 15 * Math.min(steps, 14),
  reward: compose({ task: taskReward(), style: { weight: 0.2, reward: judge } }),
})
for (const { name, success } of summary.stages) console.log(`${name}: ${(100 * success.mean).toFixed(0)}%`)
const { calls, failures, masked } = judge.usage
console.log(
  `the judge was asked ${calls} times; ${failures} answers could not be read, ${masked} episodes masked`,
)
await environment.close()
