import { apiPath } from '../../backend/tinker/index.ts'
import * as checkpoints from './checkpoint-handlers.ts'
import type { Handler } from './context.ts'
import { refuse } from './refusal.ts'
import { retrieveFuture } from './retrieve-handler.ts'
import { sample } from './sampling-handlers.ts'
import * as sessions from './session-handlers.ts'
import * as training from './training-handlers.ts'

/** Method and path, in which a star stands for a part. */
const routes: Readonly<Record<string, Handler>> = {
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
  'GET samplers/*': sessions.getSampler,
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
  'GET training_runs/*': checkpoints.getRun,
  'GET training_runs/*/checkpoints': checkpoints.listCheckpoints,
  'GET models/*/checkpoints': checkpoints.listCheckpoints,
  'GET checkpoints': checkpoints.listAllCheckpoints,
  'DELETE training_runs/*/checkpoints/*/*': checkpoints.deleteCheckpoint,
}

/** Calls that must be answered also to who has no key. */
export const openPaths: readonly string[] = ['healthz']

/** The path within the protocol, as `forward`; of the address itself it is empty, of others undefined. */
export function protocolPath(pathname: string): string | undefined {
  const trimmed = pathname.replace(/\/+$/, '')
  if (trimmed === '' || trimmed === apiPath) return ''
  return trimmed.startsWith(`${apiPath}/`) ? trimmed.slice(apiPath.length + 1) : undefined
}

export function findRoute(method: string, path: string): { handler: Handler; places: string[] } | undefined {
  const parts = path.split('/')
  for (const [route, handler] of Object.entries(routes)) {
    const [verb, pattern] = route.split(' ')
    const wanted = pattern.split('/')
    if (verb !== method || wanted.length !== parts.length) continue
    if (!wanted.every((part, i) => part === '*' || part === parts[i])) continue
    return { handler, places: parts.filter((_, i) => wanted[i] === '*').map(decodePlace) }
  }
  return undefined
}

function decodePlace(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw refuse('tinker-bad-request', 'The address cannot be read', {
      given: part,
      expected: 'UTF-8, with each % followed by two hexadecimal digits',
    })
  }
}
