import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Chromium contains a Vulkan driver for the CPU, and its loader. */
export const driver = process.env['AGOGE_VULKAN_DRIVER'] ?? '/usr/lib/chromium/vk_swiftshader_icd.json'

/** Runs a script on a device in a separate process, because drivers are loaded at its start. */
export function onDevice(
  device: string,
  script: URL,
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(
    process.execPath,
    ['--conditions', 'agoge-source', '--import', import.meta.resolve('tsx'), fileURLToPath(script)],
    {
      env: {
        ...process.env,
        AGOGE_DEVICE: device,
        VK_DRIVER_FILES: driver,
        VK_ICD_FILENAMES: driver,
        LD_LIBRARY_PATH: dirname(driver),
      },
    },
  )
  const [out, err] = [child.stdout, child.stderr].map((stream) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    return chunks
  })
  const text = (chunks: Buffer[]): string => Buffer.concat(chunks).toString()
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, out: text(out), err: text(err) }))
  })
}
