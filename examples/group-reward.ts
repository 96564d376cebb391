// A reward that compares episodes: among the successful episodes of a task, those with the fewest calls get a bonus.
import {
  createFilesystemEnvironment,
  filesystemDemonstrations,
  filesystemTasks,
  taskReward,
  train,
} from 'agoge'
import type { GroupReward } from 'agoge'
import { compose } from 'agoge/rewards'

const fewestCalls: GroupReward = {
  scoreGroup(episodes) {
    const fewest = Math.min(...episodes.filter(({ success }) => success).map(({ usage }) => usage.calls))
    return episodes.map(({ success, usage }) => Number(success === true && usage.calls === fewest))
  },
}

// STEPS=2 makes a trial run with fewer steps, tasks and demonstrations.
const steps = Number(process.env['STEPS'] ?? 20)
const environment = await createFilesystemEnvironment()
const summary = await train({
  environment,
  tasks: filesystemTasks,
  demonstrations: steps < 10 ? 4 : filesystemDemonstrations,
  steps,
  testTasks: 15 * Math.min(steps, 14),
  reward: compose({ task: taskReward(), economy: { weight: 0.2, reward: fewestCalls } }),
})
for (const { name, success } of summary.stages) console.log(`${name}: ${(100 * success.mean).toFixed(0)}%`)
console.log(`calls an episode: ${summary.stages.map(({ calls }) => calls.toFixed(1)).join(' -> ')}`)
await environment.close()
