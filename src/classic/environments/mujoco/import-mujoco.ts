import type { MujocoModule } from './physics.ts'

/** Imports MuJoCo's WebAssembly build, an optional package. Bundlers for browsers take `import-mujoco-browser.ts` instead. */
export async function importMujoco(): Promise<MujocoModule> {
  const { default: create } = await import('@mujoco/mujoco')
  return create()
}
