// Trains the small model on the official filesystem MCP server and prints its success before and after.
import { createFilesystemEnvironment, filesystemDemonstrations, filesystemTasks, train } from 'agoge'

// STEPS=2 makes a trial run with fewer steps, tasks and demonstrations than the plan.
const steps = Number(process.env['STEPS'])
const environment = await createFilesystemEnvironment()
const summary = await train({
  environment,
  tasks: filesystemTasks,
  demonstrations: filesystemDemonstrations,
  ...(steps > 0 ? { steps, testTasks: 15 * steps, demonstrations: 4 } : {}),
  onEvent: (event) => event.type === 'phase' && console.log(`... ${event.name}`),
})
for (const { name, success } of summary.stages) console.log(`${name}: ${(100 * success.mean).toFixed(0)}%`)
await environment.close()
