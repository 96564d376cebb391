import type { MujocoModule } from './physics.ts'

/**
 * `import-mujoco.ts` for browsers: imports nothing, so that pages without MuJoCo can be bundled without the package. Pages with it
 * give `loadMujoco` its default export.
 */
export const importMujoco = (): Promise<MujocoModule> =>
  Promise.reject(new Error('a page gives loadMujoco the default export of @mujoco/mujoco'))
