import * as checkpoints from './checkpoint-handlers.ts'
import type { Handler } from './context.ts'
import { retrieveFuture } from './retrieve-handler.ts'
import { sample } from './sampling-handlers.ts'
import * as sessions from './session-handlers.ts'
import * as training from './training-handlers.ts'

/** The calls of the protocol by method and path within it, as Hono writes them. The empty path is that of the server itself. */
export const routes: Readonly<Record<string, Handler>> = {
  'GET ': sessions.root,
  'GET healthz': sessions.health,
  'POST client/config': sessions.clientConfig,
  'POST client/dynamic_config': sessions.dynamicConfig,
  'GET get_server_capabilities': sessions.capabilities,
  'POST create_session': sessions.createSession,
  'POST session_heartbeat': sessions.heartbeat,
  'POST create_model': sessions.createModel,
  'POST unload_model': sessions.unloadModel,
  'POST get_info': sessions.getInfo,
  'POST create_sampling_session': sessions.createSamplingSession,
  'GET samplers/:sampler': sessions.getSampler,
  'POST telemetry': sessions.telemetry,
  'POST forward': training.forward,
  'POST forward_backward': training.forwardBackward,
  'POST optim_step': training.optimStep,
  'POST save_weights': training.saveWeights,
  'POST save_weights_for_sampler': training.saveWeightsForSampler,
  'POST load_weights': training.loadWeights,
  'POST asample': sample,
  'POST retrieve_future': retrieveFuture,
  'POST weights_info': checkpoints.weightsInfo,
  'GET training_runs': checkpoints.listRuns,
  'GET training_runs/:run': checkpoints.getRun,
  'GET training_runs/:run/checkpoints': checkpoints.listCheckpoints,
  'GET models/:run/checkpoints': checkpoints.listCheckpoints,
  'GET checkpoints': checkpoints.listAllCheckpoints,
  'DELETE training_runs/:run/checkpoints/:kind/:name': checkpoints.deleteCheckpoint,
}
