import { randomBytes, scryptSync } from 'node:crypto'

/**
 * The seal of what a person said yes to: kept with a run, it tells later whether the same is asked for. Salted, and slow to make, so that
 * the secrets of a configuration cannot be guessed from it.
 */
export function hashOf(agreed: unknown, salt: string = randomBytes(8).toString('hex')): string {
  return `${salt}:${scryptSync(JSON.stringify(agreed), salt, 24).toString('hex')}`
}

export function isHashOf(hash: string, agreed: unknown): boolean {
  const [salt] = hash.split(':')
  return hashOf(agreed, salt) === hash
}
