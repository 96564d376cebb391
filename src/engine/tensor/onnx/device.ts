import { AgogeError } from '../../../error.ts'

/** Where programs run: this machine's processor; a graphics card by WebGPU (Vulkan, Metal, Direct3D 12); one of NVIDIA's by CUDA. */
export const devices = ['cpu', 'webgpu', 'cuda'] as const
export type Device = (typeof devices)[number]

/**
 * Where programs run unless told otherwise: `AGOGE_DEVICE`, else the processor.
 *
 * @throws AgogeError for names of no device
 */
export function defaultDevice(): Device {
  // Browsers have no process.
  const { process } = globalThis as { process?: NodeJS.Process }
  const given = process?.env.AGOGE_DEVICE ?? 'cpu'
  const found = devices.find((device) => device === given)
  if (found !== undefined) return found
  throw new AgogeError('AGOGE_DEVICE names no device', {
    code: 'unknown-device',
    given,
    expected: devices.join(', '),
  })
}

const needs: Record<Device, string> = {
  cpu: 'onnxruntime-node',
  webgpu: 'a graphics card with a driver for Vulkan, Metal or Direct3D 12',
  cuda: 'an NVIDIA card with CUDA 12 and cuDNN 9, and the CUDA files of onnxruntime-node',
}

/** That a program cannot be made for a device. */
export function deviceError(device: Device, cause: unknown): AgogeError {
  return new AgogeError(`Programs cannot run on ${device} here`, {
    code: 'no-device',
    given: cause instanceof Error ? cause.message : String(cause),
    expected: needs[device],
    hint: 'AGOGE_DEVICE=cpu runs the same programs on the processor',
    cause,
  })
}
