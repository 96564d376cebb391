export { compactResult } from './compact-result.ts'
export { createCallGuard, guardToolbox } from './guarded-toolbox.ts'
export type { CallGuard, GuardOptions } from './guarded-toolbox.ts'
export type { McpTask } from './mcp-task.ts'
export { createMcpWorld } from './mcp-world.ts'
export type { McpWorld, McpWorldOptions } from './mcp-world.ts'
export { openMcpWorld, readWorldConfig } from './open-mcp-world.ts'
export type { OpenMcpWorldOptions } from './open-mcp-world.ts'
export { confirmPlan, describePlan } from './plan.ts'
export type { ConfirmOptions, PlanFacts } from './plan.ts'
export { probeTools } from './probe.ts'
export type { Probe, ProbeOptions } from './probe.ts'
export { admitTools } from './safety.ts'
export type { Admission, AdmissionOptions, AdmittedTool } from './safety.ts'
export { answerMatches } from './salient.ts'
export { createStatePool } from './state-pool.ts'
export type {
  EpisodeState,
  StateCall,
  StateCallOptions,
  StatePool,
  StatePoolOptions,
  StateSlot,
} from './state-pool.ts'
export { createSystemWorld } from './system-world.ts'
export { fingerprintTasks } from './task-fingerprint.ts'
export { generateTasks } from './task-generation.ts'
export type { GeneratedTasks, TaskCounts, TaskGenerationOptions } from './task-generation.ts'
export { createToolSystem } from './tool-system.ts'
export type { ToolSystem, ToolSystemOptions } from './tool-system.ts'
export { parseWorldConfig, readOnlyWorld } from './world-config.ts'
export type { McpWorldConfig, ResetRule } from './world-config.ts'
