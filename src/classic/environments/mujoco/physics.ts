import { AgogeError } from '../../../error.ts'
import type { EnvironmentRandom } from '../../environment/index.ts'
import { importMujoco } from './import-mujoco.ts'

/** The part of `mjModel` that the environments read and write. Arrays are views of the memory of MuJoCo. */
interface MujocoModel {
  readonly nq: number
  readonly nv: number
  readonly nu: number
  readonly opt: { readonly gravity: Float64Array }
  /** [nq]: the positions of the joints in the pose that the file describes. */
  readonly qpos0: Float64Array
  /** [nu, 6]. */
  readonly actuator_gear: Float64Array
  /** [nv]. */
  readonly dof_damping: Float64Array
  /** [ngeom, 3]: sliding, torsional and rolling friction. */
  readonly geom_friction: Float64Array
}

/** The part of `mjData` that the environments read and write. */
interface MujocoData {
  readonly qpos: Float64Array
  readonly qvel: Float64Array
  readonly qacc_warmstart: Float64Array
  readonly ctrl: Float64Array
}

/** The part of the module of `@mujoco/mujoco` that the environments use. */
export interface MujocoModule {
  readonly MjModel: { from_xml_string(xml: string): MujocoModel }
  readonly MjData: new (model: never) => MujocoData
  mj_forward(model: unknown, data: unknown): void
  mj_step(model: unknown, data: unknown): void
}

let mujoco: MujocoModule | undefined
let loading: Promise<void> | undefined

/**
 * Loads MuJoCo, the physics of `invertedPendulum` and `hopper`. Trainings, evaluations and `openVector` do it themselves.
 * Await it before `createEnvironment` or `createVectorEnvironment`, which are synchronous. Loads once; later calls return at once.
 *
 * @param create default export of `@mujoco/mujoco`, for web pages. Default: the installed package, which Node imports.
 * @throws AgogeError `missing-package` if `@mujoco/mujoco` cannot be imported
 *
 * @example
 * await loadMujoco()
 * const vector = createVectorEnvironment(hopper, { numEnvs: 8 })
 */
export function loadMujoco(create: () => Promise<MujocoModule> = importMujoco): Promise<void> {
  loading ??= create().then(
    (module) => {
      mujoco = module
    },
    (cause: unknown) => {
      loading = undefined
      throw new AgogeError('environments of MuJoCo need the package @mujoco/mujoco', {
        code: 'missing-package',
        expected: 'npm i @mujoco/mujoco --ignore-scripts',
        hint: 'In a web page: import create from "@mujoco/mujoco"; await loadMujoco(create)',
        cause,
      })
    },
  )
  return loading
}

/** Numbers that `Physics` copies from and to a row of an environment's state, in this order. */
const parts = ['qpos', 'qvel', 'qacc_warmstart'] as const

/** A model of MuJoCo with views of its memory. */
interface Simulation {
  readonly module: MujocoModule
  readonly model: MujocoModel
  readonly data: MujocoData
  readonly state: readonly Float64Array[]
  readonly ctrl: Float64Array
  /** The positions that the model begins with. */
  readonly pose: Float64Array
  readonly constants: ModelConstants
}

/** Constants of a model that context features change. Views: writes change the model. */
export interface ModelConstants {
  /** [3], m/s^2. */
  readonly gravity: Float64Array
  /** [nu, 6]. */
  readonly gear: Float64Array
  /** [nv]. */
  readonly damping: Float64Array
  /** [ngeom, 3]. */
  readonly friction: Float64Array
}

/**
 * The physics of one kind of robot. All environments of all vectors share one simulation: a call copies the row of an environment
 * into it, computes, and copies the row back. No call allocates memory.
 */
export interface Physics {
  /** Length of a row: positions, velocities, and accelerations that the solver starts from. */
  readonly stateSize: number
  /** Writes the pose of the model with uniform noise in [-noise, noise] on every position, then on every velocity. */
  reset(state: Float64Array, row: number, noise: number, random: EnvironmentRandom): void
  /** Simulates `frames` time steps with the actions of row `row`. */
  step(state: Float64Array, row: number, actions: Float32Array, frames: number): void
  /** Constants of the model for the next call. Write all that contexts change. */
  constants(): ModelConstants
}

interface PhysicsOptions {
  /** Name of the environment, for errors. */
  name: string
  /** The model, in MuJoCo's format. It is compiled at the first reset. */
  xml: string
  /** Number of degrees of freedom. Positions and velocities are equally many. */
  joints: number
}

/** Defines physics, which needs `loadMujoco` before its first call. */
export function definePhysics({ name, xml, joints }: PhysicsOptions): Physics {
  const stateSize = parts.length * joints
  let made: Simulation | undefined

  function simulation(): Simulation {
    if (made === undefined || made.module !== mujoco) {
      const module = mujoco ?? notLoaded(name)
      const model = module.MjModel.from_xml_string(xml)
      made = viewsOf(module, model, new module.MjData(model as never))
    } else if (made.ctrl.length === 0) {
      // The memory of WebAssembly has grown, and views of the old one are empty.
      made = viewsOf(made.module, made.model, made.data)
    }
    return made
  }

  // Loops over indices: iterators would be allocated until the compiler has optimised them away.
  function write(from: Float64Array, row: number, to: readonly Float64Array[]): void {
    for (let p = 0; p < to.length; p++)
      for (let k = 0; k < joints; k++) to[p][k] = from[row * stateSize + p * joints + k]
  }

  function read(to: Float64Array, row: number, from: readonly Float64Array[]): void {
    for (let p = 0; p < from.length; p++)
      for (let k = 0; k < joints; k++) to[row * stateSize + p * joints + k] = from[p][k]
  }

  return {
    stateSize,
    constants: () => simulation().constants,
    reset(state, row, noise, random) {
      const { module, model, data, state: views, ctrl, pose } = simulation()
      const at = row * stateSize
      for (let k = 0; k < stateSize; k++) {
        const rest = k < joints ? pose[k] : 0
        // As NumPy draws between two bounds, positions first.
        state[at + k] = k < 2 * joints ? rest + (-noise + 2 * noise * random.random()) : 0
      }
      write(state, row, views)
      ctrl.fill(0)
      module.mj_forward(model, data)
      read(state, row, views)
    },
    step(state, row, actions, frames) {
      const { module, model, data, state: views, ctrl } = simulation()
      write(state, row, views)
      for (let k = 0; k < ctrl.length; k++) ctrl[k] = actions[row * ctrl.length + k]
      for (let frame = 0; frame < frames; frame++) module.mj_step(model, data)
      read(state, row, views)
    },
  }
}

function viewsOf(module: MujocoModule, model: MujocoModel, data: MujocoData): Simulation {
  return {
    module,
    model,
    data,
    state: parts.map((part) => data[part]),
    ctrl: data.ctrl,
    pose: model.qpos0,
    constants: {
      gravity: model.opt.gravity,
      gear: model.actuator_gear,
      damping: model.dof_damping,
      friction: model.geom_friction,
    },
  }
}

function notLoaded(environment: string): never {
  throw new AgogeError(`${environment} needs MuJoCo, which is not loaded`, {
    code: 'not-loaded',
    given: `a reset of ${environment} before loadMujoco()`,
    expected: 'await loadMujoco() first',
    hint: 'trainClassic, evaluateAgent and openVector load it themselves',
  })
}
