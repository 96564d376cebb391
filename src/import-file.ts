import { pathToFileURL } from 'node:url'

/**
 * Imports a module by its path. Node reads TypeScript from 22.18 on; before, `tsx` does, where it is installed beside Agoge.
 *
 * @param file absolute.
 * @throws whatever the module throws.
 */
export async function importFile(file: string): Promise<Record<string, unknown>> {
  const { href } = pathToFileURL(file)
  try {
    return (await import(href)) as Record<string, unknown>
  } catch (error) {
    const unread = (error as NodeJS.ErrnoException).code === 'ERR_UNKNOWN_FILE_EXTENSION'
    if (!unread || !(await registerTsx())) throw error
    // Node keeps the failure under the first address.
    return (await import(`${href}?tsx`)) as Record<string, unknown>
  }
}

/** Lets Node read TypeScript from now on; false where there is no tsx. */
async function registerTsx(): Promise<boolean> {
  try {
    const { register } = await import('tsx/esm/api')
    register()
    return true
  } catch {
    return false
  }
}
