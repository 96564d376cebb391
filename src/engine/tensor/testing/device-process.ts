import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Chromium brings a Vulkan driver that computes on the processor, and the loader for it. */
export const driver = process.env['AGOGE_VULKAN_DRIVER'] ?? '/usr/lib/chromium/vk_swiftshader_icd.json'

/** Runs a script on a device, in a process of its own: drivers are looked for when it starts. */
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
