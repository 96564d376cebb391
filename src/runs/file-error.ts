import { AgogeError } from '../error.ts'

/** What the system's codes mean, and what is to be done about them. */
const meanings: Record<string, { reason: string; hint: string }> = {
  EACCES: {
    reason: 'permission denied',
    hint: 'Choose a place that you may write to, or change its permissions',
  },
  EPERM: { reason: 'not permitted', hint: 'Choose a place that you may write to, or change its permissions' },
  EROFS: { reason: 'the file system is read-only', hint: 'Choose a place on another file system' },
  ENOSPC: { reason: 'the disk is full', hint: 'Make room, or choose a place on another disk' },
  EDQUOT: { reason: 'the quota is used up', hint: 'Make room, or choose a place on another disk' },
  EFBIG: { reason: 'the file would be too large', hint: 'Choose a place on another file system' },
  ENOENT: { reason: 'there is no such file or folder', hint: 'Check the path' },
  ENOTDIR: { reason: 'a part of the path is a file', hint: 'Choose another path' },
  EISDIR: { reason: 'it is a folder', hint: 'Choose another path, or move the folder away' },
  EEXIST: {
    reason: 'a file stands where a folder is needed',
    hint: 'Choose another path, or move the file away',
  },
  ENOTEMPTY: { reason: 'the folder is not empty', hint: 'Choose another path' },
  ENAMETOOLONG: { reason: 'the name is too long', hint: 'Choose a shorter path' },
  ELOOP: { reason: 'its symbolic links go round in a circle', hint: 'Choose another path' },
  EBUSY: { reason: 'it is in use, perhaps a mount point', hint: 'Choose another path' },
  EXDEV: { reason: 'it lies on two file systems', hint: 'Choose another path' },
  EIO: { reason: 'the disk has a fault', hint: 'Choose a place on another disk' },
  EMFILE: { reason: 'this process has too many files open', hint: 'Raise the limit (ulimit -n)' },
  ENFILE: { reason: 'the system has too many files open', hint: 'Close other programs' },
}

/** The code of a failed file operation (`ENOSPC` ...); undefined for everything else, failed sockets and commands too. */
export function fileErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  const call = 'syscall' in error ? String(error.syscall) : ''
  if (/^(?:spawn|connect|listen|bind|kill|getaddrinfo)/.test(call)) return undefined
  return error.code in meanings ? error.code : undefined
}

/**
 * The AgogeError for a failed file operation: the path, what is wrong with it and what to do. An AgogeError, and what is no file error,
 * is returned as it is.
 */
export function asFileError(path: string, cause: unknown): unknown {
  const code = fileErrorCode(cause)
  if (code === undefined || AgogeError.isInstance(cause)) return cause
  const { reason, hint } = meanings[code]
  return new AgogeError(`Cannot write or read ${path}: ${reason} (${code})`, {
    code: 'unusable-path',
    given: path,
    expected: 'a file or folder that can be written, on a disk with room',
    hint,
    cause,
  })
}

/** Runs a file operation; its failure becomes an AgogeError that names the path and the repair. */
export function withFileErrors<T>(path: string, operation: () => T): T {
  try {
    return operation()
  } catch (cause) {
    throw asFileError(path, cause)
  }
}

/** `guarded` for the asynchronous work of somebody else, who may have wrapped the system's error in an own one. */
export async function withFileErrorsAsync<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const inner =
      AgogeError.isInstance(cause) && fileErrorCode(cause.cause) !== undefined ? cause.cause : cause
    throw asFileError(path, inner)
  }
}
