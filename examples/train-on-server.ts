// Trains the small model to operate the official filesystem MCP server, and prints how much better it got.
import { createFilesystemWorld, filesystemTasks, train } from 'agoge'

const steps = Number(process.env['STEPS'] ?? 100)
const world = await createFilesystemWorld()
try {
  const summary = await train({
    world,
    tasks: filesystemTasks,
    steps,
    testTasks: 4 * steps,
    onEvent: (event) => event.type === 'phase' && console.log(`... ${event.name}`),
  })
  for (const { name, success } of summary.stages)
    console.log(
      `${name}: ${(100 * success.mean).toFixed(0)}% (${(100 * success.low).toFixed(0)}-${(100 * success.high).toFixed(0)}%)`,
    )
} finally {
  await world.close()
}
